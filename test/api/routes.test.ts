// Routes and releases (specification 1, 7): disabled, stale, unhealthy; several routes by priority; failover only
// with proof.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { testClock } from "../support/clock.ts";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, onProvider, PLAIN, type TestManifest } from "../support/models.ts";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";
import { waitFor } from "../support/wait.ts";

const clock = testClock();
let gateway: TestGateway;
let second: Simulator;
let customer: Customer;
const two: TestManifest = { ...PLAIN, model: "two-routes", priority: 1 };
const ROUTE = "two-routes@simulator/local";
/** How long a route stays closed after repeated failures: long enough to be seen closed on a slow machine, too. */
const OPEN_MS = 1_500;

beforeAll(async () => {
  second = await startSimulator({ port: 0 });
  gateway = await startGateway({
    clock,
    providers: { second: `${second.url}/v1`, nobody: "http://127.0.0.1:1/v1" },
    models: [
      ...MODELS,
      two,
      onProvider(two, "second", { priority: 2 }),
      { ...PLAIN, model: "nobody-1", provider: "nobody" },
      { ...PLAIN, model: "elsewhere-1", provider: "not-configured" },
    ],
    configure: (config) => {
      for (const provider of config.providers)
        provider.health = { ...provider.health, openAfterFailures: 3, halfOpenAfterMs: OPEN_MS };
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await second.stop();
});

const served = async (model = "two-routes"): Promise<[number, string | undefined, number | undefined]> => {
  const { status, json } = await gateway.chat<{ gateway?: GatewayJson }>(customer, hello(model));
  return [status, json.gateway?.provider, json.gateway?.attempts];
};

test("the route with the better priority serves", async () => {
  expect(await served()).toEqual([200, "simulator", 1]);
});

test.each([429, 503, 529, 400, 404, 422])(
  "after %d from the first route the second one serves, in one hold",
  async (status) => {
    gateway.simulator.behave({ behaviour: { status }, calls: 1 });
    expect(await served()).toEqual([200, "second", 2]);
    expect(await served()).toEqual([200, "simulator", 1]); // and a good answer ends it
  },
);

test.each([500, 502, 504, 408, 424])(
  "after %d nothing proves that it did not run: no second attempt",
  async (status) => {
    gateway.simulator.behave({ behaviour: { status }, calls: 1 });
    const before = second.bill().length;
    const reply = await gateway.chat<ErrorJson>(customer, hello("two-routes"));
    expect(reply.status).toBeGreaterThanOrEqual(502);
    expect(second.bill()).toHaveLength(before);
    expect(reply.headers.get("x-should-retry")).toBe("false");
    expect(await served()).toEqual([200, "simulator", 1]);
  },
);

test("a connection reset after the request was written is no proof: no second attempt", async () => {
  gateway.simulator.behave({ behaviour: { reset_before_headers: true }, calls: 1 });
  const before = [gateway.simulator.bill().length, second.bill().length];
  const reply = await gateway.chat<ErrorJson>(customer, hello("two-routes"));
  expect(reply.status).toBe(502);
  expect([gateway.simulator.bill().length, second.bill().length]).toEqual([
    (before[0] ?? 0) + 1,
    before[1] ?? 0,
  ]);
  expect(await served()).toEqual([200, "simulator", 1]);
});

test("a refused connection is proof, and ends as 502 that may be retried", async () => {
  const reply = await gateway.chat<ErrorJson>(customer, hello("nobody-1"));
  expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
  expect(reply.headers.get("x-should-retry")).toBe("true");
});

test("a failure after the first part does not move to another route", async () => {
  gateway.simulator.behave({ behaviour: { error_after_events: 4, completion_tokens: 50 }, calls: 1 });
  const before = second.bill().length;
  const { events } = await gateway.stream(customer, hello("two-routes"));
  expect(events.done).toBe(false);
  expect(events.chunks.at(-1)?.error?.code).toBe("provider_error");
  expect(second.bill()).toHaveLength(before);
});

test("a route whose calls keep failing is closed, and the other one serves; one trial opens it again", async () => {
  expect(await served()).toEqual([200, "simulator", 1]);
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 3 });
  for (let n = 0; n < 3; n += 1) expect((await gateway.chat(customer, hello("two-routes"))).status).toBe(502);
  expect(await served()).toEqual([200, "second", 1]);
  await Bun.sleep(OPEN_MS + 20);
  expect(await served()).toEqual([200, "simulator", 1]);
});

test("with its circuit open a model's only route answers 503 route_unhealthy with a time to retry", async () => {
  const models = { ...PLAIN, model: "fragile-1", upstream_model: "sim-fragile-1" };
  await gateway.publish(models, { nowMs: clock.nowMs() });
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 3, model: "sim-fragile-1" });
  for (let n = 0; n < 3; n += 1) await gateway.chat(customer, hello("fragile-1"));
  const calls = gateway.simulator.bill().length;
  const reply = await gateway.chat<ErrorJson>(customer, hello("fragile-1"));
  expect([reply.status, reply.json.error.code]).toEqual([503, "route_unhealthy"]);
  expect(reply.headers.get("x-should-retry")).toBe("true");
  expect(Number(reply.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect(gateway.simulator.bill()).toHaveLength(calls);
  gateway.simulator.behaveWell();
});

test("a disabled route is closed on the next request, with its reason; no approval overrides it; once enabled it serves again", async () => {
  const route = "plain-1@simulator/local";
  await gateway.admin("POST", "/routes/disable", { route, reason: "maintenance" });
  const calls = gateway.simulator.bill().length;
  const reply = await gateway.chat<ErrorJson>(customer, hello());
  expect([reply.status, reply.json.error.code]).toEqual([503, "route_disabled"]);
  expect(reply.headers.get("x-should-retry")).toBe("false");
  expect(gateway.simulator.bill()).toHaveLength(calls);
  await gateway.admin("POST", "/routes/enable", { route });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
});

test("with one of two routes disabled the other serves; with both the model is closed", async () => {
  await gateway.admin("POST", "/routes/disable", { route: ROUTE, reason: null });
  expect(await served()).toEqual([200, "second", 1]);
  await gateway.admin("POST", "/routes/disable", { route: "two-routes@second/local", reason: null });
  const reply = await gateway.chat<ErrorJson>(customer, hello("two-routes"));
  expect([reply.status, reply.json.error.code]).toEqual([503, "route_disabled"]);
  for (const route of [ROUTE, "two-routes@second/local"])
    await gateway.admin("POST", "/routes/enable", { route });
});

test("a model on a provider that this gateway does not have is unavailable", async () => {
  const reply = await gateway.chat<ErrorJson>(customer, hello("elsewhere-1"));
  expect([reply.status, reply.json.error.code]).toEqual([503, "route_unavailable"]);
  expect(reply.json.error.message).toContain("has no provider that is set up on this gateway");
  const { json } = await gateway.admin<{ data: { model: string; state: string; reason: string | null }[] }>(
    "GET",
    "/routes",
  );
  expect(json.data.find(({ model }) => model === "elsewhere-1")).toMatchObject({
    state: "unhealthy",
    reason: "no_provider",
  });
});

test("an older version is refused; a newer one serves from the next request on", async () => {
  const lower = await gateway.publish(
    { ...PLAIN, version: 1, max_output_tokens: 4000 },
    { nowMs: clock.nowMs() },
  );
  expect(lower.status).toBe(422);
  expect(lower.text).toContain("highest");
  await gateway.publish({ ...PLAIN, version: 5 }, { nowMs: clock.nowMs() });
  const { json } = await gateway.chat<{ gateway: GatewayJson }>(customer, hello());
  expect(json.gateway.route.release_version).toBe(5);
  expect((await gateway.publish({ ...PLAIN, version: 4 }, { nowMs: clock.nowMs() })).status).toBe(422);
});

test("the price of an admitted request is that of its admission", async () => {
  const dear = { ...PLAIN, version: 6, pricing: { ...PLAIN.pricing, request_minimum: "0.5" } };
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
  const running = gateway.chat<{ gateway: GatewayJson }>(customer, hello());
  await waitFor(async () => (await gateway.balance(customer)).held !== 0n, "its hold");
  await gateway.publish(dear, { nowMs: clock.nowMs() });
  gateway.simulator.behaveWell();
  expect((await running).json.gateway.cost.customer_charge_usd).toBe(0.0001);
  expect(
    (await gateway.chat<{ gateway: GatewayJson }>(customer, hello())).json.gateway.cost.customer_charge_usd,
  ).toBe(0.5);
});

test("an expired release makes its route stale to the millisecond; a fresh one opens it", async () => {
  clock.advance(31 * 86_400_000);
  const reply = await gateway.chat<ErrorJson>(customer, hello());
  expect([reply.status, reply.json.error.code]).toEqual([503, "route_release_stale"]);
  expect(reply.headers.get("x-should-retry")).toBe("false");
  await gateway.publish({ ...PLAIN, version: 7 }, { nowMs: clock.nowMs() });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
});
