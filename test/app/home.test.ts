// The operator's first page, block by block, on both stores: its sums are the ledger's, its order is worst first, and
// what expires soon is there.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { entitled } from "../support/entitled.ts";
import { hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN, RESEARCH } from "../support/models.ts";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let charged = 0n;

  beforeAll(async () => {
    gateway = await startGateway({ store, providers: { silent: "http://127.0.0.1:9/v1" } });
    root = await firstOperator(gateway);
    for (let n = 0; n < 2; n += 1) {
      const customer = await gateway.customer({ usd: "5" });
      const before = await gateway.balance(customer);
      expect((await gateway.chat(customer, hello())).status).toBe(200);
      charged += before.available - (await gateway.balance(customer)).available;
      await gateway.chat(customer, { ...hello(), model: "no-such-model" });
    }
  }, 120_000);
  afterAll(() => gateway.stop());

  const usd = (nano: bigint): string => `0.${String(nano).padStart(9, "0")}`;

  test("traffic: what was charged by everybody, by the hour, to the last digit; refusals apart", async () => {
    const traffic = await root.app("GET /operator/home/traffic");
    expect(traffic).toMatchObject({
      now: { requests: 2, charge_usd: usd(charged) },
      before: { requests: 0, charge_usd: usd(0n) },
      running: 0,
      error_rate: 0,
      refused: 2,
    });
    expect(traffic.hours).toHaveLength(24);
    expect(traffic.hours.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
    const margin = await root.app("GET /operator/home/margin");
    expect(margin).toMatchObject({ charge_usd: usd(charged), margin_percent: null });
    expect(margin.models.find(({ model }) => model === PLAIN.model)?.unknown).toBe("not_listed");
  });

  test("providers: the worst first, with its reason and since when", async () => {
    const before = (await root.app("GET /operator/home/providers")).data;
    expect(before.map(({ provider, state }) => [provider, state])).toEqual([
      ["simulator", "live"],
      ["silent", "none"],
    ]);
    expect(before[0]).toMatchObject({ attempts: 2, failed: 0, served: 1, routes: before[0]?.live_routes });
    expect(before[0]?.first_part_ms_p50).toBeNumber();
    const began = Date.now();
    await root.app(
      "POST /operator/providers/{provider}/open",
      { provider: "simulator" },
      { reason: "tried" },
    );
    const [worst] = (await root.app("GET /operator/home/providers")).data;
    expect(worst).toMatchObject({ provider: "simulator", state: "unhealthy", live_routes: 0 });
    expect(Date.parse(worst?.since ?? "")).toBeWithin(began - 1_000, Date.now() + 1_000);
    await root.app("POST /operator/providers/{provider}/close", { provider: "simulator" });
  });

  test("providers: partly live if one route of several is disabled, with its reason and how many are left", async () => {
    const route = `${PLAIN.model}@simulator/local`;
    const simulator = async () =>
      (await root.app("GET /operator/home/providers")).data.find(({ provider }) => provider === "simulator");
    const before = await simulator();
    expect(before).toMatchObject({ state: "live", reason: null });
    await root.app("POST /operator/routes/disable", {}, { route, reason: "answers badly" });
    expect(await simulator()).toMatchObject({
      state: "partly_live",
      reason: "answers badly",
      routes: before?.routes,
      live_routes: (before?.routes ?? 0) - 1,
    });
    const providers = await root.app("GET /operator/providers");
    const reasons = providers.data.flatMap(({ routes }) => routes.map((one) => [one.route, one.reason]));
    expect(reasons.filter(([, reason]) => reason !== null)).toEqual([[route, "answers badly"]]);
    await root.app("POST /operator/routes/enable", {}, { route });
    expect(await simulator()).toMatchObject({ state: "live", live_routes: before?.routes });
  });

  test("what ends: the soonest first, what nobody wants left out", async () => {
    const ends = async () =>
      (await root.app("GET /operator/home/ending")).data.map(({ kind, title, over }) => [kind, title, over]);
    expect(await ends()).toEqual([]);
    const soon = { ...PLAIN, version: (PLAIN.version ?? 1) + 1 };
    expect((await gateway.publish(soon, { expiresInMs: 86_400_000 })).status).toBe(200);
    const route = `${PLAIN.model}@simulator/local`;
    expect(await ends()).toEqual([["release", route, false]]);
    const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Lab" });
    await entitled(gateway, { org, model: RESEARCH.model, untilMs: Date.now() + 3 * 86_400_000 });
    expect(await ends()).toEqual([
      ["release", route, false],
      ["entitlement", RESEARCH.model, false],
    ]);
    await root.app("POST /operator/routes/disable", {}, { route, reason: "why" });
    expect(await ends()).toEqual([["entitlement", RESEARCH.model, false]]);
    const key = async (name: string, days: number) => {
      const expires_at = new Date(Date.now() + days * 86_400_000).toISOString();
      return (await root.app("POST /orgs/{org}/keys", { org }, { name, expires_at })).id;
    };
    const [soonest, paused] = [await key("Nightly", 1), await key("Paused", 2)];
    await key("Later", 15);
    await root.app("POST /orgs/{org}/keys/{key}/pause", { org, key: paused });
    expect((await root.app("GET /operator/home/ending")).data[0]).toMatchObject({
      id: soonest,
      org,
      org_name: "Lab",
    });
    expect(await ends()).toEqual([
      ["key", "Nightly", false],
      ["entitlement", RESEARCH.model, false],
    ]);
  });

  test("what waits: organizations whose credits last less than three days at their rate, then requests for Research Mode", async () => {
    const waits = async () => (await root.app("GET /operator/home/waiting")).data;
    expect(await waits()).toEqual([]);
    await root.app("POST /operator/routes/enable", {}, { route: `${PLAIN.model}@simulator/local` });
    const low = await gateway.customer({ usd: "0.01" });
    for (let n = 0; n < 200; n += 1) if ((await gateway.chat(low, hello())).status === 402) break;
    const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Askers" });
    const owner = await newMember(root, gateway, { org, role: "owner", email: `asks-${store}@example.com` });
    const asked = { model: RESEARCH.model, project: "Grasping", purpose: "Compare" };
    const { id } = await owner.app("POST /orgs/{org}/research", { org }, asked);
    const [first, second, ...others] = await waits();
    const overview = await root.app("GET /orgs/{org}/overview", { org: low.organizationId });
    expect(first).toMatchObject({
      kind: "credits",
      id: low.organizationId,
      available_usd: overview.balance.available_usd,
      burn_usd_per_day: overview.burn_usd_per_day,
    });
    expect(overview.attention.map(({ kind }) => kind)).toContain("low_balance");
    expect(second).toMatchObject({ kind: "entitlement", id, org, org_name: "Askers", model: RESEARCH.model });
    expect(others).toEqual([]);
  });
});
