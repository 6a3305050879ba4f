// Idempotency-Key (specification 4 "Idempotency rules", money.md §8): header rules, replay, duplicates that join.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { testClock } from "../support/clock.ts";
import { type ErrorJson, gatewayOf, readEvents, textOf } from "../support/events.ts";
import { PLAIN } from "../support/models.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { heldBack } from "../support/held-back.ts";

const clock = testClock();
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ clock });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(() => gateway.stop());

const key = (): { "idempotency-key": string } => ({ "idempotency-key": crypto.randomUUID() });
const callsOf = (id: string | null): number =>
  gateway.simulator.bill().filter(({ request_id }) => request_id === id).length;

test("without the header a key is generated and echoed, and no replay protection is claimed", async () => {
  const { headers, json } = await gateway.chat(customer, hello());
  const generated = headers.get("x-gw-idempotency-key");
  expect(generated).toMatch(/^gwk_[0-9a-f]{32}$/);
  expect(json).toMatchObject({
    gateway: {
      idempotency: { key: generated ?? "", caller_supplied: false, cross_request_replay_safe: false },
    },
  });
});

test("with the header no key is echoed and replay protection is claimed", async () => {
  const sent = key();
  const { headers, json } = await gateway.chat(customer, hello(), sent);
  expect(headers.get("x-gw-idempotency-key")).toBeNull();
  expect(json).toMatchObject({
    gateway: {
      idempotency: { key: sent["idempotency-key"], caller_supplied: true, cross_request_replay_safe: true },
    },
  });
});

test("a retry gets the very same bytes, pays nothing and calls nobody", async () => {
  const sent = key();
  const first = await gateway.chat(customer, hello(), sent);
  const [balance, calls] = [await gateway.balance(customer), gateway.simulator.bill().length];
  const again = await gateway.chat(customer, hello(), sent);
  expect(again.text).toBe(first.text);
  expect(again.status).toBe(200);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.headers.get("x-request-id")).toBe(first.headers.get("x-request-id"));
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  expect(await gateway.balance(customer)).toEqual(balance);
  expect(gateway.simulator.bill()).toHaveLength(calls);
});

test("a retried stream gets the very same bytes", async () => {
  const sent = key();
  const first = await gateway.stream(customer, hello(), sent);
  const calls = gateway.simulator.bill().length;
  const again = await gateway.stream(customer, hello(), sent);
  expect(again.text).toBe(first.text);
  expect(again.events.done).toBe(true);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
  expect(gateway.simulator.bill()).toHaveLength(calls);
});

test("members in another order are the same request; another body under the key is refused, with the usual cause", async () => {
  const sent = key();
  await gateway.chat(customer, { model: "plain-1", messages: hello().messages, max_tokens: 5 }, sent);
  const reordered = await gateway.chat(
    customer,
    { max_tokens: 5, messages: hello().messages, model: "plain-1" },
    sent,
  );
  expect(reordered.headers.get("idempotent-replayed")).toBe("true");
  const other = await gateway.chat<ErrorJson>(customer, { ...hello(), max_tokens: 6 }, sent);
  expect(other.status).toBe(422);
  expect(other.json.error.code).toBe("idempotency_key_reused");
  expect(other.json.error.message).toContain("default headers");
  expect(other.headers.get("x-should-retry")).toBe("false");
});

test.each([
  ["7 characters", "1234567", false],
  ["8 characters", "12345678", true],
  ["200 characters", "k".repeat(200), true],
  ["201 characters", "k".repeat(201), false],
  ["a blank inside", "12345 6789", false],
  ["a letter beyond ASCII", "schlüssel-1", false],
  ["nothing", "", false],
])("a key of %s", async (_, value, good) => {
  const reply = await gateway.chat<ErrorJson>(customer, hello(), { "idempotency-key": value });
  expect(reply.status).toBe(good ? 200 : 400);
  if (!good)
    expect(reply.json.error).toMatchObject({ code: "invalid_idempotency_key", param: "Idempotency-Key" });
});

test("the same string under another API key is another request", async () => {
  const sent = key();
  const other = await gateway.key(customer.organizationId);
  const first = await gateway.chat(customer, hello(), sent);
  const second = await gateway.chat(other, hello(), sent);
  expect(second.headers.get("idempotent-replayed")).toBeNull();
  expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
});

test("a retry is answered though the route closed, the limit is reached and the balance is gone", async () => {
  const poor = await gateway.customer({ usd: "0.1", limitUsd: "1" });
  const sent = key();
  const first = await gateway.chat(poor, hello(), sent);
  expect(first.status).toBe(200);
  await gateway.admin("POST", `/keys/${poor.keyId}/limit`, { usd: "0" });
  await gateway.admin("POST", "/routes/disable", { route: "plain-1@simulator/local", reason: "test" });
  const again = await gateway.chat(poor, hello(), sent);
  await gateway.admin("POST", "/routes/enable", { route: "plain-1@simulator/local" });
  expect(again.status).toBe(200);
  expect(again.text).toBe(first.text);
});

test("a revoked key replays nothing", async () => {
  const fired = await gateway.key(customer.organizationId);
  const sent = key();
  await gateway.chat(fired, hello(), sent);
  await gateway.admin("POST", `/keys/${fired.keyId}/revoke`);
  expect((await gateway.chat(fired, hello(), sent)).status).toBe(401);
});

test("a refusal leaves the key free", async () => {
  const sent = key();
  const poor = await gateway.customer({ usd: "0" });
  expect((await gateway.chat(poor, hello(), sent)).status).toBe(402);
  await gateway.admin("POST", "/credits", { org: poor.organizationId, usd: "1", kind: "purchase" });
  expect((await gateway.chat(poor, hello(), sent)).status).toBe(200);
});

test("a failure with proof of non-execution leaves the key free; one without proof is stored under it", async () => {
  const free = key();
  gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
  expect((await gateway.chat(customer, hello(), free)).status).toBe(502);
  expect((await gateway.chat(customer, hello(), free)).status).toBe(200);
  const taken = key();
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  const failed = await gateway.chat(customer, hello(), taken);
  expect(failed.status).toBe(502);
  const again = await gateway.chat(customer, hello(), taken);
  expect(again.text).toBe(failed.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(callsOf(failed.headers.get("x-request-id"))).toBe(1);
});

test("fifty copies at once are dispatched once and all get the answer", async () => {
  const sent = key();
  gateway.simulator.behave({ behaviour: { latency_ms: 50 }, calls: 1 });
  const before = gateway.simulator.bill().length;
  const replies = await Promise.all(Array.from({ length: 50 }, () => gateway.chat(customer, hello(), sent)));
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(gateway.simulator.bill().length - before).toBe(1);
});

test("copies of a running stream follow it from the first byte", async () => {
  const sent = key();
  gateway.simulator.behave({ behaviour: { tokens_per_second: 400, completion_tokens: 80 }, calls: 1 });
  const before = gateway.simulator.bill().length;
  const replies = await Promise.all(Array.from({ length: 5 }, () => gateway.stream(customer, hello(), sent)));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(replies.every(({ events }) => events.done)).toBe(true);
  expect(replies.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(4);
  expect(gateway.simulator.bill().length - before).toBe(1);
});

test("past the most waiters a copy is told to come back, and then gets the answer", async () => {
  const sent = key();
  const replies = await heldBack(gateway.simulator, { status: 409, refusals: 35, calls: 1 }, () =>
    Array.from({ length: 100 }, () => gateway.chat<ErrorJson>(customer, hello(), sent)),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(65);
  const late = replies.filter(({ status }) => status === 409);
  expect(late).toHaveLength(35);
  expect(late[0]?.json.error.code).toBe("idempotency_in_progress");
  expect(late[0]?.headers.get("x-should-retry")).toBe("true");
  expect(Number(late[0]?.headers.get("retry-after-ms"))).toBeLessThanOrEqual(1000);
  expect((await gateway.chat(customer, hello(), sent)).status).toBe(200);
});

test("copies with another body are refused while the first one runs", async () => {
  const sent = key();
  const replies = await heldBack(gateway.simulator, { status: 422, refusals: 1, calls: 1 }, () => [
    gateway.chat(customer, hello(), sent),
    gateway.chat(customer, { ...hello(), max_tokens: 9 }, sent),
  ]);
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
});

test("a keyed stream whose client leaves runs to its end, and the retry gets all of it", async () => {
  const sent = key();
  gateway.simulator.behave({ behaviour: { tokens_per_second: 500, completion_tokens: 100 }, calls: 1 });
  const leaving = new AbortController();
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json", ...sent },
    body: JSON.stringify({ ...hello(), stream: true }),
  });
  await response.body?.getReader().read();
  leaving.abort();
  const retry = await gateway.stream(customer, hello(), sent);
  expect(retry.events.done).toBe(true);
  expect(gatewayOf(retry.events).cost).toMatchObject({ output_tokens: 100, evidence: "provider_usage" });
  expect(callsOf(response.headers.get("x-request-id"))).toBe(1);
});

test("Last-Event-ID resumes a keyed stream after that event", async () => {
  const sent = key();
  const whole = await gateway.stream(customer, hello(), sent);
  expect(whole.events.ids[0]).toBe("1");
  const rest = await gateway.stream(customer, hello(), { ...sent, "last-event-id": "4" });
  expect(rest.events.ids[0]).toBe("5");
  expect(whole.text.endsWith(rest.text)).toBe(true);
  const upTo = readEvents(whole.text.slice(0, whole.text.length - rest.text.length));
  expect(textOf(upTo) + textOf(rest.events)).toBe(textOf(whole.events));
});

test("the ledger is sound after all this", () => gateway.assertSound());

test("after a day the answer is gone and its key is refused; after thirty more the key is new", async () => {
  const sent = key();
  const customer = await gateway.customer();
  await gateway.chat(customer, hello(), sent);
  clock.advance(24 * 3_600_000 + 1000);
  const late = await gateway.chat<ErrorJson>(customer, hello(), sent);
  expect(late.status).toBe(409);
  expect(late.json.error.code).toBe("idempotency_key_expired");
  clock.advance(30 * 86_400_000);
  await gateway.publish({ ...PLAIN, version: 2 }, { nowMs: clock.nowMs() });
  const fresh = await gateway.chat(customer, hello(), sent);
  expect(fresh.status).toBe(200);
  expect(fresh.headers.get("idempotent-replayed")).toBeNull();
});
