// A model that one route offers to everyone and another as research: each key is served only by routes of its own
// scope, even if the first one fails or is closed. No failover bypasses an entitlement (specification 5).
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { entitled } from "../support/entitled.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN, type TestManifest } from "../support/models.ts";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";

const open: TestManifest = { ...PLAIN, model: "both-1", priority: 1 };
const ROUTE = "both-1@simulator/local";

let gateway: TestGateway;
let second: Simulator;
let standard: Customer;
let research: Customer;

beforeAll(async () => {
  second = await startSimulator({ port: 0 });
  gateway = await startGateway({
    providers: { second: `${second.url}/v1` },
    models: [open, onProvider({ ...open, tier: "research" }, "second", { priority: 2 })],
  });
  standard = await gateway.customer();
  research = await gateway.key(standard.organizationId, { scope: "research" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await second.stop();
});

type Answer = Partial<ErrorJson> & { gateway?: Partial<GatewayJson> };
async function served(by: Customer): Promise<unknown[]> {
  const { status, json } = await gateway.chat<Answer>(by, hello("both-1"));
  return [status, json.error?.code ?? json.gateway?.provider, json.gateway?.access?.tier];
}
const listed = async (by: Customer): Promise<string[]> => {
  const { json } = await gateway.get<{
    data: { tier: string; routes: { provider: string }[] }[];
  }>(by, "/v1/models");
  return json.data.flatMap(({ tier, routes }) => [tier, ...routes.map(({ provider }) => provider)]);
};

test("a standard key is never served by the research route: not where its own fails, not where it is closed", async () => {
  expect(await served(standard)).toEqual([200, "simulator", "standard"]);
  gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
  expect((await served(standard)).slice(0, 2)).toEqual([502, "provider_error"]);
  await gateway.admin("POST", "/routes/disable", {
    route: ROUTE,
    reason: "test",
  });
  expect((await served(standard)).slice(0, 2)).toEqual([503, "route_disabled"]);
  await gateway.admin("POST", "/routes/enable", { route: ROUTE });
  expect(second.bill()).toEqual([]);
});

test("a research key is served only by the research route, once its entitlement is approved", async () => {
  const calls = gateway.simulator.bill().length;
  expect((await served(research)).slice(0, 2)).toEqual([403, "research_entitlement_required"]);
  expect(await listed(research)).toEqual([]);
  const org = standard.organizationId;
  await entitled(gateway, {
    org,
    model: "both-1",
    untilMs: Date.now() + 3_600_000,
  });
  expect(await served(research)).toEqual([200, "second", "research"]);
  expect(gateway.simulator.bill()).toHaveLength(calls);
  expect([await listed(standard), await listed(research)]).toEqual([
    ["standard", "simulator"],
    ["research", "second"],
  ]);
});
