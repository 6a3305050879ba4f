// The newest release of a route is damaged or missing when the gateway starts: the route is closed, and nothing older
// is served. Its callers get 503 with the reason, not an unknown model; operators see the route, its state and what
// to do, in every list.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppAnswer } from "../../src/api/client.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { type Disk, openDisk } from "../support/damage.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN, type TestManifest } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

const model = (name: string, more: Partial<TestManifest> = {}): TestManifest => ({
  ...PLAIN,
  model: name,
  upstream_model: `sim-${name}`,
  ...more,
});
const byDefault = (name: string): string => `${name}@simulator/local`;

/** One route each: what is done to the row of its newest version, and what is known of it afterwards. */
interface Case {
  what: string;
  model: string;
  route: string;
  versions: number;
  damage: string;
  /** The version shown, if anything still records it; null if only its names are left. */
  shown: number | null;
}

const ROTTEN = "manifest = '{\"damaged', jws = 'e.e'";
const CASES: Case[] = [
  {
    what: "its text is rotten",
    model: "rotten-1",
    route: byDefault("rotten-1"),
    versions: 1,
    damage: "SET manifest = replace(manifest, '\"contextWindow\":1', '\"contextWindow\":3')",
    shown: 1,
  },
  {
    what: "its signature is another one",
    model: "signature-1",
    route: "a-route-named-by-hand",
    versions: 2,
    damage: "SET jws = substr(jws, 1, length(jws) - 6) || 'AAAAAA'",
    shown: 2,
  },
  {
    what: "nothing of it can be read, and an older one can",
    model: "older-1",
    route: "another-route-named-by-hand",
    versions: 2,
    damage: `SET ${ROTTEN}`,
    shown: 1,
  },
  {
    what: "it is stored under another digest",
    model: "digest-1",
    route: byDefault("digest-1"),
    versions: 1,
    damage: "SET digest = 'damaged'",
    shown: 1,
  },
  {
    what: "nothing of it can be read, and there is no older one",
    model: "lost-1",
    route: byDefault("lost-1"),
    versions: 1,
    damage: `SET ${ROTTEN}`,
    shown: null,
  },
  {
    what: "only its manifest's text is left, and there is no older one",
    model: "named-1",
    route: "a-third-route-named-by-hand",
    versions: 1,
    damage: "SET jws = 'e.e'",
    shown: null,
  },
  {
    what: "its row is gone",
    model: "gone-1",
    route: byDefault("gone-1"),
    versions: 1,
    damage: "DELETE",
    shown: null,
  },
];
/** Nothing records its model: callers get the list of models, and operators see the route. */
const NAMELESS = { model: "nameless-1", route: "a-fourth-route-named-by-hand" };
const CLOSED = [...CASES.map(({ route }) => route), NAMELESS.route].toSorted();

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let disk: Disk;
  let root: Browser;
  let customer: Customer;

  const damage = async (route: string, how: string): Promise<void> => {
    const newest = `route = '${route}' AND version = (SELECT max(version) FROM route_release WHERE route = '${route}')`;
    const statement = how === "DELETE" ? "DELETE FROM route_release" : `UPDATE route_release ${how}`;
    await disk.rows("ledger", `${statement} WHERE ${newest}`);
  };

  const ask = (name: string) => gateway.chat<ErrorJson>(customer, hello(name));

  beforeAll(async () => {
    let databaseUrl: string | null = null;
    gateway = await startGateway({
      store,
      models: [
        PLAIN,
        ...CASES.map((one) => model(one.model, { route: one.route })),
        model(NAMELESS.model, { route: NAMELESS.route }),
      ],
      configure: (config) => {
        databaseUrl = config.databaseUrl;
      },
    });
    for (const one of CASES.filter(({ versions }) => versions > 1))
      expect((await gateway.publish(model(one.model, { route: one.route, version: 2 }))).status).toBe(200);
    root = await firstOperator(gateway);
    customer = await gateway.customer();
    for (const one of CASES) expect((await ask(one.model)).status).toBe(200);
    disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
    for (const one of CASES) await damage(one.route, one.damage);
    await damage(NAMELESS.route, `SET ${ROTTEN}`);
    await gateway.restart();
  }, 120_000);
  afterAll(async () => {
    await disk?.close();
    await gateway?.stop();
  });

  type Operated = AppAnswer<"GET /operator/routes">["data"][number];
  const shown = async (route: string): Promise<Operated | undefined> =>
    (await root.app("GET /operator/routes")).data.find((row) => row.route === route);

  test.each(CASES)("$what: its callers hear 503 and why, and nothing is served", async ({ model: name }) => {
    const before = gateway.simulator.bill().length;
    const { status, json } = await ask(name);
    expect([status, json.error.code]).toEqual([503, "route_release_stale"]);
    expect(json.error.message).toContain("has no current signed release. The operator has to publish");
    expect(gateway.simulator.bill()).toHaveLength(before);
  });

  test.each(CASES)(
    "$what: operators see the route, and callers the model as far as it is known",
    async (one) => {
      const row = await shown(one.route);
      const price = one.shown === null ? null : expect.anything();
      expect(row).toMatchObject({ state: "stale", reason: "unreadable", model: one.model, price });
      expect([row?.version, row?.highest_version]).toEqual([one.shown ?? one.versions, one.versions]);
      const models = await gateway.get<{ data: { id: string; state: string }[] }>(customer, "/v1/models");
      const listed = models.json.data.find(({ id }) => id === one.model);
      expect(listed?.state ?? null).toBe(one.shown === null ? null : "stale");
    },
  );

  test("if nothing records a route's model, operators see its name and its state", async () => {
    expect((await ask(NAMELESS.model)).status).toBe(404);
    const row = await shown(NAMELESS.route);
    expect(row).toMatchObject({
      state: "stale",
      reason: "unreadable",
      model: null,
      provider: null,
      price: null,
    });
  });

  test("management keys and the metrics count each closed route, and no other", async () => {
    const { json } = await gateway.admin<{ data: { route: string; state: string }[] }>("GET", "/routes");
    const closed = json.data.filter(({ state }) => state !== "live").map(({ route }) => route);
    expect(closed.toSorted()).toEqual(CLOSED);
    const metrics = (await (await fetch(`${gateway.url}/metrics`)).text()).split("\n");
    const stale = metrics.filter((line) => /^tollgate_route_state\{.*,state="stale"\} 1$/.test(line));
    expect(stale.map((line) => /route="([^"]*)"/.exec(line)?.[1] ?? "").toSorted()).toEqual(CLOSED);
    expect(metrics).toContain(`tollgate_failed_jobs_total{task="releases_load"} ${CLOSED.length}`);
    expect((await ask(PLAIN.model)).status).toBe(200);
  });

  test.each(CASES)(
    "$what: its model takes limits and entitlements, by the name that is left",
    async (one) => {
      const limits = await gateway.admin("GET", `/limits?model=${one.model}`);
      expect([limits.status, limits.json]).toMatchObject([200, { data: [{ model: one.model }] }]);
      const asked = { org: customer.organizationId, model: one.model, project: "after the repair" };
      const entitlement = await gateway.admin<ErrorJson>("POST", "/entitlements", asked);
      // Works if its type is known, or if it may have been research.
      expect(entitlement.status).toBe(one.shown === null ? 201 : 400);
    },
  );

  const NAMED = CASES.map(({ route }) => route).toSorted();

  test("its provider lists each of them, on home and on the page of providers", async () => {
    const [home] = (await root.app("GET /operator/home/providers")).data;
    expect(home).toMatchObject({ state: "partly_live", routes: NAMED.length + 1, live_routes: 1 });
    expect(home?.reason).toBe("unreadable");
    const [provider] = (await root.app("GET /operator/providers")).data;
    const closed = provider?.routes.filter(({ state }) => state === "stale").map(({ route }) => route);
    expect(closed?.toSorted()).toEqual(NAMED);
  });

  test("everyone who called them sees each on the overview, and why the callers were refused", async () => {
    const { organizationId: org } = customer;
    for (const one of CASES) expect((await ask(one.model)).status).toBe(503);
    const { routes, refusals } = await root.app("GET /orgs/{org}/overview", { org });
    const closed = routes.filter(({ state }) => state === "stale");
    expect(closed.map(({ route }) => route).toSorted()).toEqual(NAMED);
    const causes = refusals.filter(({ code }) => code === "route_release_stale");
    expect(causes.map(({ model: name }) => name ?? "").toSorted()).toEqual(
      CASES.map((one) => one.model).toSorted(),
    );
    for (const { cause } of causes) expect(cause).toContain("damaged in the store");
  });

  test.each(CASES)("$what: it is found by its model, and is shown beside its entitlement", async (one) => {
    const { organizationId: org } = customer;
    const found = (await root.app("GET /operator/search", {}, undefined, `?q=${one.model}`)).data;
    expect(found).toMatchObject([{ kind: "model", id: one.model, state: "stale" }]);
    const asked = (await root.app("GET /orgs/{org}/research", { org })).data.find(
      (row) => row.model === one.model,
    );
    if (one.shown === null)
      expect(asked?.routes).toEqual([{ route: one.route, state: "stale", reason: "unreadable" }]);
  });

  test("the list of newest releases has each of them, without what is unknown", async () => {
    type Listed = {
      route: string;
      version: number;
      model: string | null;
      state: string;
      price: object | null;
    };
    const { json } = await gateway.admin<{ data: Listed[] }>("GET", "/releases");
    const damaged = json.data.filter(({ price }) => price === null);
    expect(damaged.map(({ route }) => route).toSorted()).toEqual(CLOSED);
    for (const one of [...CASES, { ...NAMELESS, versions: 1 }])
      expect(damaged.find(({ route }) => route === one.route)).toMatchObject({
        version: one.versions,
        model: one.model === NAMELESS.model ? null : one.model,
        state: "stale",
        digest: null,
        published_at: null,
      });
    expect(json.data).toHaveLength(CLOSED.length + 1);
  });

  test("a lost route can be switched off and on, and its callers are told", async () => {
    const route = byDefault("lost-1");
    const off = await gateway.admin("POST", "/routes/disable", { route, reason: "restoring" });
    expect(off.json).toMatchObject({ route, state: "disabled", reason: "restoring" });
    expect((await ask("lost-1")).json.error.code).toBe("route_disabled");
    const on = await gateway.admin("POST", "/routes/enable", { route });
    expect(on.json).toMatchObject({ route, state: "stale", reason: "unreadable" });
  });

  test.if(store === "postgres")(
    "one that is mended opens without a restart, on a store that others write, too",
    async () => {
      const [route, until] = [
        byDefault("digest-1"),
        async (status: number) => (await ask("digest-1")).status === status,
      ];
      const [good] = await disk.rows("ledger", "SELECT jws FROM route_release WHERE route = ?1", route);
      const digest = new Bun.CryptoHasher("sha256").update(String(good?.["jws"])).digest("hex");
      await disk.rows("ledger", "UPDATE route_release SET digest = ?2 WHERE route = ?1", route, digest);
      await waitFor(() => until(200), "the mended route");
      await damage(route, "SET digest = 'damaged'");
      await waitFor(() => until(503), "the route that is damaged while it serves");
      expect(await shown(route)).toMatchObject({ state: "stale", reason: "unreadable", model: "digest-1" });
    },
  );

  test("the same file again does not repair a damaged release: it is refused, and a higher version requested", async () => {
    const [row] = (await gateway.rowsOf(`route_release WHERE route = '${byDefault("rotten-1")}'`)) as {
      jws: string;
    }[];
    const again = await gateway.admin<ErrorJson>("POST", "/releases", { jws: row?.jws });
    expect([again.status, again.json.error.message]).toEqual([
      422,
      expect.stringContaining("higher version"),
    ]);
  });

  test("a newer version opens each of them", async () => {
    for (const one of [...CASES, { ...NAMELESS, versions: 1 }]) {
      const repeated = await gateway.publish(model(one.model, { route: one.route, version: one.versions }));
      expect(repeated.status).toBe(422);
      const next = model(one.model, { route: one.route, version: one.versions + 1 });
      expect((await gateway.publish(next)).status).toBe(200);
      expect((await ask(one.model)).status).toBe(200);
      expect(await shown(one.route)).toMatchObject({ state: "live", version: one.versions + 1 });
    }
    const { json } = await gateway.admin<{ data: unknown[] }>("GET", "/routes");
    expect(json.data).toHaveLength(CLOSED.length + 1);
  });
});
