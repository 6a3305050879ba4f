// What an operator does by hand about providers: probing one, opening its breaker, and sending a support bundle.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AppAnswer } from "../../src/api/client.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { PLAIN } from "../support/models.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

const CANARY = "canary-of-this-test";
let gateway: TestGateway;
let root: Browser;
let customer: Customer;

beforeAll(async () => {
  gateway = await startGateway({
    providers: { dead: "http://127.0.0.1:9/v1", silent: "http://127.0.0.1:9/v1" },
    configure: (config) => {
      for (const provider of config.providers) {
        provider.own = { ...provider.own, api_key: CANARY };
        const probe = provider.name === "silent" ? null : "/models";
        provider.health = { ...provider.health, probe, intervalMs: 3_600_000 };
      }
      config.signIn.oidc = [
        {
          id: "acme",
          name: "Acme",
          discoveryUrl: "http://127.0.0.1:9/d",
          clientId: "x",
          clientSecret: CANARY,
        },
      ];
      const stripe = { secretKey: `sk_${CANARY}`, webhookSecret: `whsec_${CANARY}`, apiUrl: null };
      Object.assign(config.payments, { driver: "stripe", stripe });
    },
  });
  root = await firstOperator(gateway);
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

type Provider = AppAnswer<"GET /operator/providers">["data"][number];
const rowOf = async (name: string): Promise<Provider | undefined> =>
  (await root.app("GET /operator/providers")).data.find((provider) => provider.name === name);
const open = (provider: string, reason: string) =>
  root.try("POST /operator/providers/{provider}/open", { provider }, { reason });
const audited = async (action: string) =>
  (await root.app("GET /operator/audit", {}, undefined, `?action=${action}`)).data;

test("a probe on request says whether the provider answers, and the page shows the result", async () => {
  const well = await root.app("POST /operator/providers/{provider}/probe", { provider: "simulator" });
  expect(well).toMatchObject({ well: true, provider: { last_probe: { failing: false } } });
  const dead = await root.app("POST /operator/providers/{provider}/probe", { provider: "dead" });
  expect(dead).toMatchObject({ well: false, provider: { last_probe: { failing: true } } });
  const silent = await root.try("POST /operator/providers/{provider}/probe", { provider: "silent" });
  expect([silent.status, silent.json.error.code]).toEqual([501, "not_configured"]);
  expect((await rowOf("silent"))?.probed).toBe(false);
});

test("an opened breaker stops every call to the provider until it is closed; each is one line of the audit log", async () => {
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  const opened = await open("simulator", "answers with nonsense");
  expect(opened.json).toMatchObject({
    opened: { reason: "answers with nonsense", by: { name: "Root" } },
  } as object);
  const calls = gateway.simulator.bill().length;
  for (let i = 0; i < 3; i++) {
    const refused = await gateway.chat<{ error: { code: string } }>(customer, hello());
    expect([refused.status, refused.json.error.code]).toEqual([503, "route_unhealthy"]);
  }
  expect(gateway.simulator.bill().length).toBe(calls);
  expect((await gateway.balance(customer)).held).toBe(0n as never);
  const [route] = (await root.app("GET /operator/routes")).data;
  expect(route).toMatchObject({ state: "unhealthy", reason: "opened_by_hand", health: { circuit: "open" } });
  // Neither a successful probe nor a second click closes it or removes its reason.
  await root.app("POST /operator/providers/{provider}/probe", { provider: "simulator" });
  await open("simulator", "again");
  expect((await rowOf("simulator"))?.opened?.reason).toBe("answers with nonsense");
  expect((await gateway.chat(customer, hello())).status).toBe(503);
  const close = () => root.app("POST /operator/providers/{provider}/close", { provider: "simulator" });
  expect((await close()).opened).toBeNull();
  await close();
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  expect(await audited("provider.open")).toMatchObject([
    { target: "simulator", after: '{"reason":"answers with nonsense"}', actor: { name: "Root" } },
  ]);
  expect(await audited("provider.close")).toHaveLength(1);
});

test("a breaker needs a provider and a reason", async () => {
  expect((await open("nobody", "x")).status).toBe(404);
  expect((await open("simulator", " ")).status).toBe(400);
  expect((await rowOf("simulator"))?.opened).toBeNull();
});

test("the support bundle has states and figures, and no secret, person or customer", async () => {
  const org = customer.organizationId;
  await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  await open("dead", "down");
  const { text, json } = await root.send<AppAnswer<"GET /operator/support-bundle">>(
    "GET",
    "/app/v1/operator/support-bundle",
  );
  expect(json.health.ready).toBe(true);
  expect(json.providers.map(({ name, opened }) => [name, opened])).toEqual([
    ["simulator", false],
    ["dead", true],
    ["silent", false],
  ]);
  expect(json.routes.length).toBeGreaterThan(3);
  expect(json.runtime.schema_version).toBeGreaterThanOrEqual(7);
  expect(json.settings).toMatchObject({ payments: { driver: "stripe" }, sign_in: { oidc: 1 } });
  for (const hidden of [CANARY, "olga", "Root", "root@", org, "gw_", gateway.dataDir, "postgres://"])
    expect([hidden, text.includes(hidden)]).toEqual([hidden, false]);
});

test("a provider whose usage was not believed has that in its row, by reason, for the last day", async () => {
  expect((await rowOf("simulator"))?.doubts).toEqual([]);
  const { MAX_SAFE_INTEGER: max } = Number;
  gateway.simulator.behave({
    behaviour: { usage_as_is: { prompt_tokens: max, completion_tokens: max } },
    calls: 2,
  });
  for (let i = 0; i < 2; i += 1)
    expect((await gateway.chat(customer, { ...hello(), max_tokens: 10 })).status).toBe(200);
  gateway.simulator.behave({ behaviour: { overrun_tokens: 500 }, calls: 1 });
  expect((await gateway.chat(customer, { ...hello(), max_tokens: 10 })).status).toBe(200);
  const row = await rowOf("simulator");
  expect(row?.doubts.toSorted((a, b) => a.doubt.localeCompare(b.doubt))).toEqual([
    { doubt: "output_above_maximum", attempts: 1 },
    { doubt: "usage_clamped", attempts: 3 },
  ]);
  expect((await rowOf("dead"))?.doubts).toEqual([]);
});

test("what the platform paid stays with the provider when its routes get newer releases", async () => {
  gateway.simulator.behave({ behaviour: { overrun_tokens: 500 }, calls: 1 });
  expect((await gateway.chat(customer, { ...hello(), max_tokens: 10 })).status).toBe(200);
  const before = (await rowOf("simulator"))?.variance_usd ?? "";
  expect(Number(before)).toBeGreaterThan(0);
  expect((await gateway.publish({ ...PLAIN, version: 2 })).status).toBe(200);
  expect((await rowOf("simulator"))?.variance_usd).toBe(before);
});

test("the last visit of an operator of no organization is taken from the valid sessions", async () => {
  const seen = async () =>
    (await root.app("GET /operator/people")).data.find(({ email }) => email.startsWith("root"))?.last_seen_at;
  expect(Date.now() - Date.parse((await seen()) ?? "")).toBeLessThan(600_000);
});
