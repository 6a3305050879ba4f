// What a provider and a caller send beside the request is not passed on: a provider's headers never reach a caller,
// nor a caller's a provider; a provider's text cannot leave its JSON string, nor its members replace ours
// (hardening.md S15, S16, S24).
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

const TEXT =
  'a\n\nevent: gateway\ndata: [DONE]\n\nb\u2028c\u2029d\u0085e\r\n\r\ndata: {"error":{"message":"x"}}\n\n';
const USAGE = { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 };
/** From a provider that tries to speak for the gateway. */
const OURS = { gateway: { request_id: "req_forged" }, cost: 0, error: null };

let heard: Headers[] = [];
let failing = false;
let gateway: TestGateway;
let customer: Customer;
const vain = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    heard.push(request.headers);
    const { stream } = (await request.json()) as { stream?: boolean };
    const headers = {
      "set-cookie": "provider=1; Path=/",
      "x-request-id": "req_of_the_provider",
      server: "vain/1.0",
      via: "1.1 vain",
      "x-vain": "yes",
      "x-ratelimit-limit-requests": "7",
      "retry-after": "77",
      "access-control-allow-origin": "https://vain.example",
      "openai-organization": "org-vain",
    };
    if (failing)
      return Response.json({ error: { message: "no", type: "server_error" } }, { status: 500, headers });
    const whole = { message: { role: "assistant", content: TEXT }, index: 0, finish_reason: "stop" };
    if (stream !== true)
      return Response.json(
        { id: "c", object: "chat.completion", model: "vain", choices: [whole], usage: USAGE, ...OURS },
        { headers },
      );
    const chunk = (choice: object, more: object = {}): string =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }], ...OURS, ...more })}\n\n`;
    const events = [
      chunk({ delta: { role: "assistant", content: TEXT, gateway: OURS } }),
      chunk({ delta: {}, finish_reason: "stop" }, { usage: USAGE }),
      "data: [DONE]\n\n",
    ];
    return new Response(events.join(""), { headers: { ...headers, "content-type": "text/event-stream" } });
  },
});

beforeAll(async () => {
  gateway = await startGateway({
    providers: { vain: `http://127.0.0.1:${vain.port}/v1` },
    models: [{ ...PLAIN, provider: "vain", model: "vain" }],
  });
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await vain.stop(true);
});
beforeEach(() => {
  heard = [];
  failing = false;
});

const ask = { ...hello(), model: "vain" };
const FOREIGN = /vain|req_of_the_provider|req_forged|provider=1|^77$|^7$/;
function assertOurs(headers: Headers): void {
  for (const [name, value] of headers) expect(`${name}: ${value}`).not.toMatch(FOREIGN);
  for (const name of ["set-cookie", "server", "via", "x-vain", "openai-organization"])
    expect(headers.get(name)).toBeNull();
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
}

test("none of a provider's headers is passed on: for an answer, a stream, a failure", async () => {
  assertOurs((await gateway.chat(customer, ask)).headers);
  assertOurs((await gateway.stream(customer, ask)).headers);
  failing = true;
  const failed = await gateway.chat(customer, ask);
  expect(failed.status).toBeGreaterThanOrEqual(500);
  assertOurs(failed.headers);
});

test("none of a caller's headers goes upstream: the provider gets ours", async () => {
  const mine = {
    "x-sim-status": "500",
    "x-sim-behaviour": "hang",
    "x-tollgate-attempt": "99",
    "x-tollgate-worker": "1",
    "x-request-id": "mine-1",
    "x-forwarded-for": "203.0.113.9",
    cookie: "mine=1",
    "user-agent": "mine/1.0",
    "openai-organization": "org-mine",
    "openai-beta": "mine",
    traceparent: "00-11111111111111111111111111111111-2222222222222222-01",
    baggage: "mine=1",
    "x-mine": "mine",
  };
  const { status, headers } = await gateway.chat(customer, ask, mine);
  expect(status).toBe(200);
  const [upstream] = heard;
  for (const [name, value] of upstream ?? [])
    expect(`${name}: ${value}`).not.toMatch(/mine|gw_sk_|203\.0\.113/);
  expect(upstream?.get("x-tollgate-attempt")).toBe("1");
  expect(upstream?.get("x-request-id")).toBe(headers.get("x-request-id"));
  for (const name of [
    "x-sim-status",
    "x-sim-behaviour",
    "x-tollgate-worker",
    "cookie",
    "traceparent",
    "baggage",
  ])
    expect(upstream?.get(name) ?? null).toBeNull();
});

test("a provider's text stays inside its JSON string, and its members replace none of ours", async () => {
  const whole = await gateway.chat<{
    gateway: { request_id: string };
    choices: { message: { content: string } }[];
  }>(customer, ask);
  expect(whole.json.choices[0]?.message.content).toBe(TEXT);
  expect(whole.json.gateway.request_id).toBe(whole.headers.get("x-request-id") ?? "");
  const streamed = await gateway.stream(customer, ask);
  for (const text of [whole.text, streamed.text]) {
    expect(text).not.toMatch(/[\u2028\u2029\u0085]/);
    expect(text).not.toContain("req_forged");
  }
  const lines = streamed.text.split("\n").filter((line) => line !== "");
  expect(lines.filter((line) => !line.startsWith("data: "))).toEqual([]);
  expect(lines.filter((line) => line === "data: [DONE]")).toHaveLength(1);
  const told = streamed.events.chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  expect(told).toBe(TEXT);
});
