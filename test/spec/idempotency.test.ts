// Specification 4 and 8, idempotency rules 1 to 3, in unusual combinations: the same key on another surface, in
// another mode, on another spelling of the path, keys of odd characters, generated keys that are sent back.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { gatewayOf } from "../support/events.ts";
import { type Customer, hello, STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { exchange, statusOf } from "../support/raw.ts";

const MODEL = "base-preview-v1";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let customer: Customer;
  beforeAll(async () => {
    gateway = await startGateway({ store });
    customer = await gateway.customer();
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  interface Told {
    status: number;
    headers: Headers;
    text: string;
    json: Partial<ErrorJson> & { gateway?: Partial<GatewayJson> };
  }
  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Told> {
    const reply = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.secret}`,
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        ...headers,
      },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    return {
      status: reply.status,
      headers: reply.headers,
      text,
      json: text.startsWith("{") ? JSON.parse(text) : {},
    };
  }
  const ways = async (): Promise<[calls: number, rows: number, balance: unknown]> => [
    gateway.simulator.bill().length,
    (await gateway.rowsOf("request")).length,
    await gateway.balance(customer),
  ];

  const SURFACES: [path: string, body: object][] = [
    ["/v1/chat/completions", hello(MODEL)],
    ["/v1/responses", { model: MODEL, input: "Say hello", max_output_tokens: 100 }],
    ["/v1/messages", { model: MODEL, max_tokens: 100, messages: [{ role: "user", content: "Say hello" }] }],
    ["/v1/completions", { model: MODEL, prompt: "Say hello", max_tokens: 100 }],
  ];
  test.each(SURFACES)(
    "a key that was used at %s belongs to another request at every other surface",
    async (path, body) => {
      const headers = { "idempotency-key": crypto.randomUUID() };
      const first = await post(path, body, headers);
      expect(first.status).toBe(200);
      const before = await ways();
      for (const [other, asked] of SURFACES) {
        const again = await post(other, asked, headers);
        if (other === path) {
          expect([again.status, again.text]).toEqual([200, first.text]);
          expect(again.headers.get("idempotent-replayed")).toBe("true");
          expect(again.headers.get("x-request-id")).toBe(first.headers.get("x-request-id"));
        } else {
          expect([other, again.status, again.json.error?.code]).toEqual([
            other,
            422,
            "idempotency_key_reused",
          ]);
          expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
        }
      }
      expect(await ways()).toEqual(before);
    },
  );

  test("a stream is not the exact same request as a whole answer, in either order", async () => {
    for (const stream of [true, false]) {
      const headers = { "idempotency-key": crypto.randomUUID() };
      expect((await post("/v1/chat/completions", { ...hello(), stream }, headers)).status).toBe(200);
      const before = await ways();
      const other = await post("/v1/chat/completions", { ...hello(), stream: !stream }, headers);
      expect([other.status, other.json.error?.code]).toEqual([422, "idempotency_key_reused"]);
      expect(other.headers.get("content-type")).toStartWith("application/json");
      expect(other.json.gateway?.idempotency).toEqual({
        key: headers["idempotency-key"],
        caller_supplied: true,
        cross_request_replay_safe: true,
      });
      expect(await ways()).toEqual(before);
    }
  });

  test("the same request by another spelling of the path, of its media type, or in another order, is the same", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { model, messages, ...rest } = hello();
    const first = await post("/v1/chat/completions", { model, messages, ...rest }, headers);
    const before = await ways();
    for (const path of ["/v1/chat/completions/", "//v1//chat/completions", "/v1/chat/completions?x=1"]) {
      const again = await post(
        path,
        { ...rest, messages, model },
        {
          ...headers,
          "content-type": "Application/JSON; Charset=UTF-8",
        },
      );
      expect([path, again.status, again.text]).toEqual([path, 200, first.text]);
    }
    expect(await ways()).toEqual(before);
  });

  test.each([
    ["8 letters", "abcdefgh", 200],
    ["200 letters", "k".repeat(200), 200],
    ["quotes and signs, as they are", '"a\'b\\c,d;e=f"', 200],
    ["7 letters", "abcdefg", 400],
    ["201 letters", "k".repeat(201), 400],
    ["nothing, which was meant to be one", "", 400],
    ["a blank inside", "abcd efgh", 400],
    ["UTF-8 of letters beyond ASCII", Buffer.from("schlüssel-größe").toString("latin1"), 400],
    ["Latin-1 of them", "schl\u00fcssel-1", 400],
    ["an emoji", Buffer.from("key-🔑-key").toString("latin1"), 400],
    ["DEL", "abcdefg\u007f", 400],
  ])("a key of %s", async (_, key, status) => {
    const body = JSON.stringify(hello());
    const before = await ways();
    const reply = await exchange(
      gateway.url,
      [
        "POST /v1/chat/completions HTTP/1.1",
        "Host: x",
        `Authorization: Bearer ${customer.secret}`,
        "Content-Type: application/json",
        `Idempotency-Key: ${key}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
        "",
        body,
      ].join("\r\n"),
      400,
    );
    expect(statusOf(reply)).toBe(status);
    expect(reply.toLowerCase()).toContain("x-request-id: req_");
    if (status === 400) {
      expect(reply).toContain('"code":"invalid_idempotency_key"');
      expect(await ways()).toEqual(before);
    } else {
      expect(reply).toContain('"caller_supplied":true,"cross_request_replay_safe":true');
      expect(reply).toContain(`"key":${JSON.stringify(key)}`);
      expect(reply.toLowerCase()).not.toContain("x-gw-idempotency-key: ");
    }
  });

  test("a generated key belongs to one request: each call has another, and sent back it is a new caller's key", async () => {
    const [one, two] = [
      await post("/v1/chat/completions", hello()),
      await post("/v1/chat/completions", hello()),
    ];
    const keys = [one, two].map(({ headers }) => headers.get("x-gw-idempotency-key") ?? "");
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^[\x21-\x7e]{8,200}$/);
    expect(one.json.gateway?.idempotency).toEqual({
      key: keys[0] as string,
      caller_supplied: false,
      cross_request_replay_safe: false,
    });
    const calls = gateway.simulator.bill().length;
    const back = await post("/v1/chat/completions", hello(), { "idempotency-key": keys[0] ?? "" });
    expect([back.status, back.headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect(back.headers.get("x-request-id")).not.toBe(one.headers.get("x-request-id"));
    expect(gateway.simulator.bill()).toHaveLength(calls + 1);
    const streamed = await gateway.stream(customer, hello());
    expect(streamed.headers.get("x-gw-idempotency-key")).toBe(gatewayOf(streamed.events).idempotency.key);
  });

  test("a quote neither takes a key nor is replayed by one", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const quoted = await post("/v1/chat/completions/quote", hello(), headers);
    expect(quoted.status).toBe(200);
    const served = await post("/v1/chat/completions", hello(), headers);
    expect([served.status, served.headers.get("idempotent-replayed")]).toEqual([200, null]);
    const again = await post("/v1/chat/completions/quote", { ...hello(), seed: 1 }, headers);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });

  test("two keys in two headers are refused", async () => {
    const body = JSON.stringify(hello());
    const reply = await exchange(
      gateway.url,
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${customer.secret}\r\nContent-Type: application/json\r\nIdempotency-Key: abcdefgh\r\nIdempotency-Key: abcdefgh\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      1_000,
    );
    expect([statusOf(reply), reply.includes("invalid_idempotency_key")]).toEqual([400, true]);
  });
});
