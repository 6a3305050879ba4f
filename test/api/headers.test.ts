// Response headers, CORS, rate limits and shedding (wire.md §6).
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, type Reply, type TestGateway } from "../support/gateway.ts";
import { heldBack } from "../support/held-back.ts";
import { PAGE, preflight, startForPage } from "../support/page.ts";

const PER_MINUTE = 20;
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startForPage({
    configure: (config) => {
      config.limits.keyRequestsPerMinute = PER_MINUTE;
      config.limits.keyConcurrent = 5;
      config.limits.maxConcurrent = 40;
    },
  });
  customer = await gateway.customer({ limitUsd: "1" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

test("the rate-limit headers give the state right after the admission", async () => {
  const { headers } = await gateway.chat(customer, hello());
  const hold = headers.get("x-gw-hold-usd") ?? "";
  expect(hold).toMatch(/^\d+\.\d{9}$/);
  expect(Number(headers.get("x-gw-credits-available-usd")) + Number(hold)).toBeCloseTo(5, 8);
  expect(Number(headers.get("x-gw-key-limit-remaining-usd")) + Number(hold)).toBeCloseTo(1, 8);
});

test("accepted fields without effect are named", async () => {
  const { headers } = await gateway.chat(customer, { ...hello(), metadata: { a: "b" } });
  expect(headers.get("x-gw-ignored-parameters")).toBe("metadata");
});

test("an output maximum set by the gateway is reported on every surface; the caller's own is not", async () => {
  const told = async (path: string, body: object, headers: object = {}): Promise<string | null> => {
    const reply = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}`, ...headers },
      body: JSON.stringify({ model: hello().model, ...body }),
    });
    await reply.text();
    return reply.headers.get("x-gw-max-output-tokens");
  };
  const messages = [{ role: "user", content: "Hi" }];
  for (const stream of [false, true]) {
    expect(await told("/v1/chat/completions", { messages, stream })).toBe("1024");
    expect(await told("/v1/chat/completions", { messages, stream, max_tokens: 9000 })).toBe("8192");
    expect(await told("/v1/chat/completions", { messages, stream, max_tokens: 50 })).toBeNull();
    expect(await told("/v1/responses", { input: "Hi", store: false, stream })).toBe("1024");
    expect(await told("/v1/messages", { messages, stream, max_tokens: 9000 })).toBe("8192");
    // No header of a request sets one.
    const asked = { "x-gw-max-output-tokens": "7", "x-max-output-tokens": "7" };
    expect(await told("/v1/chat/completions", { messages, stream }, asked)).toBe("1024");
  }
  const browser = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${customer.secret}`, origin: PAGE },
  });
  expect(browser.headers.get("access-control-expose-headers")).toContain("x-gw-max-output-tokens");
});

test("a caller's identifiers go upstream only as a keyed hash", async () => {
  const reply = await gateway.chat(customer, { ...hello(), user: "alice@example.com" });
  expect(reply.status).toBe(200);
});

test("requests per minute: reported on answers, refused with 429 and a time to retry", async () => {
  const busy = await gateway.customer();
  const beganMs = performance.now();
  const first = await gateway.chat(busy, hello());
  expect(first.headers.get("x-ratelimit-limit-requests")).toBe("20");
  expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("19");
  let served = 0;
  let reply: Reply<ErrorJson>;
  do {
    served += 1;
    reply = await gateway.chat<ErrorJson>(busy, hello());
  } while (reply.status === 200);
  // On a slow machine slots come back meanwhile.
  const comeBack = Math.ceil(((performance.now() - beganMs) * PER_MINUTE) / 60_000);
  expect(served).toBeGreaterThanOrEqual(PER_MINUTE);
  expect(served).toBeLessThanOrEqual(PER_MINUTE + comeBack);
  expect([reply.status, reply.json.error.code, reply.json.error.type]).toEqual([
    429,
    "rate_limit_exceeded",
    "requests",
  ]);
  expect(Number(reply.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect(reply.headers.get("x-should-retry")).toBe("true");
  expect((await gateway.chat(await gateway.key(busy.organizationId), hello())).status).toBe(200);
});

test("more concurrent requests than a key may have are refused, the others served", async () => {
  const busy = await gateway.customer();
  const replies = await heldBack(gateway.simulator, { status: 429, refusals: 3 }, () =>
    Array.from({ length: 8 }, () => gateway.chat<ErrorJson>(busy, hello())),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(
    replies.filter(({ status, json }) => status === 429 && json.error.code === "rate_limit_exceeded"),
  ).toHaveLength(3);
});

test("a full gateway sheds load with 503 before anything is held", async () => {
  const many = await Promise.all(Array.from({ length: 12 }, () => gateway.customer()));
  const calls = gateway.simulator.bill().length;
  const replies = await heldBack(gateway.simulator, { status: 503, refusals: 8 }, () =>
    many.flatMap((one) => Array.from({ length: 4 }, () => gateway.chat<ErrorJson>(one, hello()))),
  );
  const shed = replies.filter(({ status }) => status === 503);
  expect(shed).toHaveLength(8);
  expect(shed[0]?.json.error.code).toBe("overloaded");
  expect(Number(shed[0]?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(gateway.simulator.bill().length - calls).toBe(40);
});

test("an allowed origin may preflight without a key and read our headers; another one may not", async () => {
  const url = `${gateway.baseUrl}/chat/completions`;
  const allowed = await preflight(url);
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("access-control-allow-origin")).toBe(PAGE);
  const headers = allowed.headers.get("access-control-allow-headers") ?? "";
  expect(headers).toStartWith("authorization, x-api-key, content-type, idempotency-key, ");
  const refused = await preflight(url, { origin: "https://evil.example" });
  expect(refused.headers.get("access-control-allow-origin")).toBeNull();
  const reply = await gateway.chat(customer, hello(), { origin: PAGE });
  expect(reply.headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test("OPTIONS of an unknown path is a 404; a page of an allowed origin passes its preflight and can read the 404", async () => {
  const asked = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, { method: "OPTIONS", headers });
  for (const path of ["/nothing", "/v1/nothing", "/v1/messages/batches"])
    expect([path, (await asked(path)).status]).toEqual([path, 404]);
  expect((await asked("/v1/models")).status).toBe(204);
  const preflight = (origin: string): Record<string, string> => ({
    origin,
    "access-control-request-method": "POST",
  });
  expect((await asked("/v1/nothing", preflight("https://evil.example"))).status).toBe(404);
  expect((await asked("/v1/nothing", { origin: PAGE })).status).toBe(404);
  expect((await asked("/v1/nothing", preflight(PAGE))).status).toBe(204);
  const behind = await fetch(`${gateway.url}/v1/nothing`, { method: "POST", headers: { origin: PAGE } });
  expect([behind.status, behind.headers.get("access-control-allow-origin")]).toEqual([404, PAGE]);
});

test("upstream headers are never copied", async () => {
  const { headers } = await gateway.chat(customer, hello());
  expect(headers.get("server")).toBeNull();
  expect(headers.get("connection")).not.toBe("close");
});
