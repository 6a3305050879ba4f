// Scopes, Research Mode and paid workspaces (specification 1, 5.4, 7).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mintKey } from "../../src/registry/secret.ts";
import { entitled } from "../support/entitled.ts";
import { testClock } from "../support/clock.ts";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, RESEARCH } from "../support/models.ts";

const MODEL = RESEARCH.model;
/** Another research model. */
const ANOTHER = { ...RESEARCH, model: "another-model" };
const clock = testClock();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock, models: [...MODELS, ANOTHER] });
});
afterAll(async () => {
  expect(gateway.simulator.bill().every(({ outcome }) => outcome === "finished")).toBe(true);
  await gateway.assertSound();
  await gateway.stop();
});

const entitle = ({ organizationId: org }: Customer, days = 30, model = MODEL): Promise<string> =>
  entitled(gateway, { org, model, untilMs: clock.nowMs() + days * 86_400_000 });

const refusal = async (customer: Customer, model = MODEL): Promise<[number, string]> => {
  const calls = gateway.simulator.bill().length;
  const reply = await gateway.chat<ErrorJson>(customer, hello(model));
  expect(gateway.simulator.bill()).toHaveLength(calls);
  return [reply.status, reply.json.error.code];
};

test("a research key with an active entitlement naming the model is served, and the receipt says so", async () => {
  const customer = await gateway.customer({ scope: "research" });
  await entitle(customer);
  const { status, json } = await gateway.chat<{ gateway: GatewayJson }>(customer, hello(MODEL));
  expect(status).toBe(200);
  expect(json.gateway.access).toEqual({ tier: "research", research_mode: true });
});

test("without an entitlement, with a requested one, or one for another model, the call is refused", async () => {
  const customer = await gateway.customer({ scope: "research" });
  expect(await refusal(customer)).toEqual([403, "research_entitlement_required"]);
  await gateway.admin("POST", "/entitlements", {
    org: customer.organizationId,
    model: MODEL,
    project: "safety",
  });
  expect(await refusal(customer)).toEqual([403, "research_entitlement_required"]);
  await entitle(customer, 30, ANOTHER.model);
  expect(await refusal(customer)).toEqual([403, "research_entitlement_required"]);
});

test("a caller who sent no key is told so; a malformed key and an unreadable one get the same answer", async () => {
  const told = async (headers: Record<string, string>): Promise<string> => {
    const response = await fetch(`${gateway.baseUrl}/models`, { headers });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    return ((await response.json()) as ErrorJson).error.message;
  };
  expect(await told({})).toStartWith("No API key was sent. Send Authorization: Bearer followed by a key");
  const { organizationId } = await gateway.customer();
  const malformed = await told({ authorization: "Bearer hunter2" });
  expect(malformed).toStartWith("Incorrect API key provided. Send Authorization: Bearer followed by a key");
  const unknown = mintKey({ organizationId, keyId: "key_000000000000" }).value;
  expect(await told({ authorization: `Bearer ${unknown}` })).toBe(malformed);
});

test("an unknown model is answered with where to list the models, on both paths", async () => {
  const customer = await gateway.customer();
  const chat = await gateway.chat<ErrorJson>(customer, hello("nope"));
  const one = await gateway.get<ErrorJson>(customer, "/v1/models/nope");
  for (const { status, json } of [chat, one])
    expect([status, json.error.message]).toEqual([
      404,
      "The model `nope` does not exist or you do not have access to it. GET /v1/models lists those of this key.",
    ]);
});

test("another organization's entitlement helps nobody else", async () => {
  await entitle(await gateway.customer({ scope: "research" }));
  expect(await refusal(await gateway.customer({ scope: "research" }))).toEqual([
    403,
    "research_entitlement_required",
  ]);
});

test("a revoked entitlement stops the next request, an expired one too", async () => {
  const customer = await gateway.customer({ scope: "research" });
  const id = await entitle(customer);
  expect((await gateway.chat(customer, hello(MODEL))).status).toBe(200);
  await gateway.admin("POST", `/entitlements/${id}/revoke`);
  expect(await refusal(customer)).toEqual([403, "research_entitlement_required"]);
  await entitle(customer, 1);
  expect((await gateway.chat(customer, hello(MODEL))).status).toBe(200);
  clock.advance(86_400_000);
  expect(await refusal(customer)).toEqual([403, "research_entitlement_required"]);
});

test("a standard key is refused on a research model though the organization holds the entitlement", async () => {
  const researcher = await gateway.customer({ scope: "research" });
  await entitle(researcher);
  const standard = await gateway.key(researcher.organizationId);
  expect(await refusal(standard)).toEqual([403, "scope_not_permitted"]);
});

test("a research key is refused on a standard model", async () => {
  const customer = await gateway.customer({ scope: "research" });
  await entitle(customer);
  expect(await refusal(customer, "plain-1")).toEqual([403, "scope_not_permitted"]);
});

test("no approval opens a disabled research route", async () => {
  const customer = await gateway.customer({ scope: "research" });
  await entitle(customer);
  const route = `${MODEL}@simulator/local`;
  await gateway.admin("POST", "/routes/disable", { route, reason: "incident" });
  expect(await refusal(customer)).toEqual([503, "route_disabled"]);
  await gateway.admin("POST", "/routes/enable", { route });
});

test("a preview model serves paid workspaces only; a purchase makes one", async () => {
  const customer = await gateway.customer({ kind: "grant" });
  expect(await refusal(customer, "base-preview-v1")).toEqual([403, "paid_workspace_required"]);
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  await gateway.admin("POST", "/credits", { org: customer.organizationId, usd: "1", kind: "purchase" });
  expect((await gateway.chat(customer, hello("base-preview-v1"))).status).toBe(200);
  expect((await gateway.chat(customer, hello("base-preview-v2"))).status).toBe(200);
});
