// Specification 1, 2.2, 2.3, 5.4: how a Research Mode call is described, the same in whole answers, streams,
// receipts, generations and the views of usage; and that an approval overrides no closed route, whatever closed it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { publishExpired } from "../support/expired-release.ts";
import { entitled } from "../support/entitled.ts";
import { type ErrorJson, type GatewayJson, gatewayOf } from "../support/events.ts";
import { type Customer, hello, STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, RESEARCH } from "../support/models.ts";

const DISABLED = { ...RESEARCH, model: "disabled-research" };
const STALE = { ...RESEARCH, model: "stale-research" };
const UNHEALTHY = { ...RESEARCH, model: "unhealthy-research", upstream_model: "sim-unhealthy-research" };
const DAY_MS = 86_400_000;

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let customer: Customer;
  beforeAll(async () => {
    gateway = await startGateway({
      store,
      models: [...MODELS, DISABLED, UNHEALTHY],
      configure: (config) => {
        for (const provider of config.providers)
          provider.health = { ...provider.health, openAfterFailures: 1, halfOpenAfterMs: 600_000 };
      },
    });
    await publishExpired(gateway, STALE);
    customer = await gateway.customer({ scope: "research" });
    const org = customer.organizationId;
    for (const { model } of [RESEARCH, DISABLED, STALE, UNHEALTHY])
      await entitled(gateway, { org, model, untilMs: Date.now() + DAY_MS });
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  const RESEARCHED = { tier: "research", research_mode: true };

  test("whole, streamed, replayed, as a generation and as a signed receipt it is one record", async () => {
    const keyed = { "idempotency-key": crypto.randomUUID() };
    const whole = await gateway.chat<{ gateway: GatewayJson }>(customer, hello(RESEARCH.model), keyed);
    const replayed = await gateway.chat<{ gateway: GatewayJson }>(customer, hello(RESEARCH.model), keyed);
    expect(replayed.text).toBe(whole.text);
    const { events } = await gateway.stream(customer, hello(RESEARCH.model));
    for (const { gateway: told } of events.chunks)
      if (told !== undefined) expect(told.access).toEqual(RESEARCHED);
    expect(events.chunks[0]?.gateway?.access).toEqual(RESEARCHED);
    for (const told of [whole.json.gateway, gatewayOf(events)]) {
      expect(told.access).toEqual(RESEARCHED);
      expect(told.cost.currency).toBe("USD");
      const { json: generation } = await gateway.get<{ gateway: unknown }>(
        customer,
        `/v1/generation?id=${told.request_id}`,
      );
      expect(generation.gateway).toEqual(told);
      const { json: receipt } = await gateway.get<{ receipt: { gateway: unknown; key: string } }>(
        customer,
        `/v1/receipts/${told.request_id}`,
      );
      expect([receipt.receipt.gateway, receipt.receipt.key]).toEqual([told, customer.keyId]);
      const { json: shown } = await gateway.admin<{ gateway: unknown }>(
        "GET",
        `/requests/${told.request_id}`,
      );
      expect(shown.gateway).toEqual(told);
      expect((await gateway.request(told.request_id)).researchMode).toBe(true);
    }
    const charged = [whole.json.gateway, gatewayOf(events)].reduce(
      (sum, { request_id }) => sum.then(async (so) => so + (await gateway.request(request_id)).charge),
      Promise.resolve(0n),
    );
    const { json: usage } = await gateway.admin<{ data: { requests: number; charge_usd: string }[] }>(
      "GET",
      `/usage?org=${customer.organizationId}&model=${RESEARCH.model}`,
    );
    expect(usage.data.map(({ requests }) => requests)).toEqual([2]);
    expect(BigInt((usage.data[0]?.charge_usd ?? "").replace(".", ""))).toBe(await charged);
  });

  test("ordinary access says standard and no Research Mode, on each preview model", async () => {
    const standard = await gateway.key(customer.organizationId);
    for (const model of ["base-preview-v1", "base-preview-v2"]) {
      const { status, json } = await gateway.chat<{ model: string; gateway: GatewayJson }>(
        standard,
        hello(model),
      );
      expect([status, json.model, json.gateway.public_model]).toEqual([200, model, model]);
      expect(json.gateway.route).toMatchObject({
        public_model: model,
        provider: "simulator",
        region: "local",
      });
      expect(json.gateway.provider).toBe(json.gateway.route.provider);
      expect(json.gateway.access).toEqual({ tier: "standard", research_mode: false });
    }
  });

  test("no approval opens a disabled, a stale or an unhealthy route; nothing is held, no provider is called", async () => {
    await gateway.admin("POST", "/routes/disable", {
      route: `${DISABLED.model}@simulator/local`,
      reason: "x",
    });
    gateway.simulator.behave({ behaviour: { status: 500 }, model: "sim-unhealthy-research", calls: 1 });
    await gateway.chat(customer, hello(UNHEALTHY.model));
    const before = [await gateway.balance(customer), gateway.simulator.bill().length];
    for (const [{ model }, code] of [
      [DISABLED, "route_disabled"],
      [STALE, "route_release_stale"],
      [UNHEALTHY, "route_unhealthy"],
    ] as const) {
      for (const body of [hello(model), { ...hello(model), stream: true }]) {
        const { status, json } = await gateway.chat<ErrorJson>(customer, body);
        expect([model, status, json.error.code]).toEqual([model, 503, code]);
        expect(json.gateway?.access?.tier ?? "research").toBe("research");
      }
      const { json: listed } = await gateway.get<{ state: string }>(customer, `/v1/models/${model}`);
      expect(listed.state).toBe(code.replace("route_", "").replace("release_", ""));
    }
    expect([await gateway.balance(customer), gateway.simulator.bill().length]).toEqual(before);
  });

  test("without the entitlement a caller learns no more of a closed route than its state", async () => {
    const other = await gateway.customer({ scope: "research" });
    const { status, json } = await gateway.chat<ErrorJson>(other, hello(DISABLED.model));
    expect([status, json.error.code]).toEqual([503, "route_disabled"]);
    const open = await gateway.chat<ErrorJson>(other, hello(RESEARCH.model));
    expect([open.status, open.json.error.code]).toEqual([403, "research_entitlement_required"]);
    const { json: listed } = await gateway.get<{ data: unknown[] }>(other, "/v1/models");
    expect(listed.data).toEqual([]);
  });
});
