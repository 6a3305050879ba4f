// Two gateways that renew the demo's releases at the same time, as those do that start together on an empty store: for each route
// the store takes one release, and the other gateway reads that.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { allRoutes, newestReleases, publishRelease, setRouteDisabled } from "../../src/registry/releases.ts";
import { type DemoPorts, demoKeys, renewDemo } from "../../src/releases/demo.ts";
import { Health } from "../../src/releases/health.ts";
import { Publisher } from "../../src/releases/publish.ts";
import { generateReleaseKey, readTrustedKeys, type TrustedKeys } from "../../src/releases/release-key.ts";
import { RouteTable } from "../../src/releases/route-table.ts";
import { type Store, startGateway, STORES, type TestGateway } from "../support/gateway.ts";

const DAY_MS = 86_400_000;
const SERVED = {
  provider: "simulator",
  intervalMs: 1000,
  probe: null,
  openAfterFailures: 5,
  halfOpenAfterMs: 1000,
};
const ROUTES = ["base-preview-v1", "base-preview-v2", "base-research-1", "plain-1"].map(
  (model) => `${model}@simulator/local`,
);

describe.each([...STORES])("%s", (store: Store) => {
  let gateway: TestGateway;
  let nowMs = Date.now();
  beforeAll(async () => {
    gateway = await startGateway({ store });
  }, 120_000);
  afterAll(() => gateway.stop());

  /** What a gateway on this store publishes with. */
  async function another(ownMs: number, trusts?: TrustedKeys): Promise<DemoPorts & { publisher: Publisher }> {
    const clock = { nowMs: () => ownMs, monotonicMs: () => 0 };
    const { key, trusted } = await demoKeys({
      dataDir: gateway.dataDir,
      dataKey: new Uint8Array(32).fill(7),
    });
    const { ledger } = gateway;
    const routeTable = new RouteTable({ clock, health: new Health(clock, [SERVED]) });
    const publisher = new Publisher({
      store: {
        publishRelease: (published, actor) => publishRelease(ledger, published, actor),
        releases: (routes) => newestReleases(ledger, () => {}, routes),
        routes: () => allRoutes(ledger),
        setRouteDisabled: (route, disabled, reason, actor) =>
          setRouteDisabled(ledger, { route, disabled, reason }, actor),
      },
      routeTable,
      trusted: trusts ?? trusted,
      clock,
      unknownTerms: (error) => {
        throw error;
      },
    });
    await publisher.load();
    return { publisher, routeTable, key, clock };
  }

  const highest = async (): Promise<number[]> => {
    const routes = await allRoutes(gateway.ledger);
    return ROUTES.map((name) => routes.find(({ route }) => route === name)?.highestVersion ?? 0);
  };

  test.each([
    ["a second apart: it reads each release that the other one published first", 2_000],
    ["in the same second: their releases are the same ones", 0],
  ])("%s", async (_, apartMs) => {
    nowMs += 40 * DAY_MS; // those of an earlier case have expired
    const faster = await another(nowMs);
    const slower = await another(nowMs + apartMs);
    const before = await highest();
    const turns = takingTurns(faster.publisher, slower.publisher);
    const renewed = await Promise.all([
      renewDemo({ ...faster, publisher: turns.first }),
      renewDemo({ ...slower, publisher: turns.second }),
    ]);
    expect(renewed).toEqual([ROUTES, []]);
    expect(await highest()).toEqual(before.map((version) => version + 1));
    for (const { routeTable } of [faster, slower])
      expect(ROUTES.map((route) => routeTable.route(route)?.state)).toEqual(ROUTES.map(() => "live"));
  });

  test("a release that is refused for anything else fails at once", async () => {
    const ports = await another(Date.now(), await readTrustedKeys([(await generateReleaseKey()).publicJwk]));
    const before = await highest();
    expect(await renewDemo(ports).then(() => "", String)).toContain("a demo release was refused");
    expect(await highest()).toEqual(before);
  });
});

type Publishing = DemoPorts["publisher"];

/** Each publication of the second one begins when the first one has made its own of the same route. */
function takingTurns(first: Publishing, second: Publishing): { first: Publishing; second: Publishing } {
  let [asked, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    first: {
      load: () => first.load(),
      publish: async (...given) => {
        await asked.promise;
        asked = Promise.withResolvers();
        const outcome = await first.publish(...given);
        made.resolve();
        made = Promise.withResolvers();
        return outcome;
      },
    },
    second: {
      load: () => second.load(),
      publish: async (...given) => {
        const others = made.promise;
        asked.resolve();
        await others;
        return await second.publish(...given);
      },
    },
  };
}
