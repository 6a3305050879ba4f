// Requests that no client library would send but that are served, and clients that leave in unusual ways: each call
// is made once, and holds and charges are exact (wire.md §6).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { exchange, openSocket, statusOf } from "../support/raw.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const TYPE = "Content-Type: application/json";
const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const post = (...headers: string[]): string =>
  head("POST /v1/chat/completions HTTP/1.1", "Host: x", ...headers);
const raw = (text: string): Promise<string> => exchange(gateway.url, text);

test.each<[string, (body: string, key: string) => string]>([
  [
    "HTTP/1.0",
    (body, key) =>
      `${head("POST /v1/chat/completions HTTP/1.0", "Host: x", key, TYPE, `Content-Length: ${body.length}`)}${body}`,
  ],
  [
    "chunks of one byte, with extensions",
    (body, key) =>
      `${post(key, TYPE, "Transfer-Encoding: chunked")}${body
        .split("")
        .map((one) => `1;a="b"\r\n${one}\r\n`)
        .join("")}0;z\r\n\r\n`,
  ],
  [
    "names in odd case, an absolute target, a query",
    (body, key) =>
      `${head("POST http://x/v1//chat/completions/?api-version=1 HTTP/1.1", "hOST: x", key.toUpperCase().slice(0, 14) + key.slice(14), TYPE.toUpperCase(), `CONTENT-length: ${body.length}`)}${body}`,
  ],
  [
    "two equal lengths",
    (body, key) =>
      `${post(key, TYPE, `Content-Length: ${body.length}`, `Content-Length: ${body.length}`)}${body}`,
  ],
])("a call is served once: %s", async (_, send) => {
  const calls = gateway.simulator.bill().length;
  const body = JSON.stringify({ ...hello("uncounted-1"), max_tokens: 5 });
  const reply = await raw(send(body, `Authorization: Bearer ${customer.secret}`));
  expect([statusOf(reply), reply.includes('"object":"chat.completion"')]).toEqual([200, true]);
  expect(gateway.simulator.bill()).toHaveLength(calls + 1);
});

test("a client that half-closes, and one that pipelines after a call, count as having left; their idempotency key gets the answer", async () => {
  const body = JSON.stringify(hello("uncounted-1"));
  const call = (key: string): string => {
    const headers = [`Authorization: Bearer ${customer.secret}`, `Idempotency-Key: ${key}`];
    const length = `Content-Length: ${body.length}`;
    return `${post(...headers, "Content-Type: application/json", length)}${body}`;
  };
  const halfClosed = crypto.randomUUID();
  const pipelined = crypto.randomUUID();
  const ending = openSocket(gateway.url);
  ending.end(call(halfClosed));
  const ended = new Promise((resolve) => ending.resume().once("close", resolve));
  await Promise.all([ended, raw(call(pipelined).repeat(2))]);
  const calls = gateway.simulator.bill().length;
  for (const key of [halfClosed, pipelined]) {
    const answer = await gateway.chat(customer, body, { "idempotency-key": key });
    expect(answer.status).toBe(200);
    expect((await gateway.request(answer.headers.get("x-request-id") ?? "")).state).toBe("settled");
  }
  expect(gateway.simulator.bill().length - calls).toBeLessThanOrEqual(2);
});

test("an empty key header does not count beside a real one", async () => {
  const shown: [path: string, ...headers: string[]][] = [
    ["/v1/messages", "Authorization:", `x-api-key: ${customer.secret}`],
    ["/v1/messages", "x-api-key:  ", `Authorization: Bearer ${customer.secret}`],
    ["/v1/chat/completions", "Content-Encoding:", `Authorization: Bearer ${customer.secret}`],
  ];
  const body = JSON.stringify({ ...hello(), max_tokens: 5 });
  for (const [path, ...headers] of shown) {
    const lines = [`POST ${path} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...headers];
    const reply = await raw(`${head(...lines, `Content-Length: ${body.length}`)}${body}`);
    expect([path, statusOf(reply)]).toEqual([path, 200]);
  }
  const none = await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: "", "x-api-key": "" } });
  expect(none.status).toBe(401);
});
