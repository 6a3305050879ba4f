// Since when a route's state holds, according to the operator's page, the operator API and the command line: the time
// of the switch and of the breaker, at every gateway of a store, and after a restart.
import { expect, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { firstOperator } from "../support/browser.ts";
import { startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { testPostgres } from "../support/postgres.ts";
import { reads } from "../support/wait.ts";

const ROUTE = `${PLAIN.model}@simulator/local`;
type Row = { route: string; state: string; since: string | null };

async function standing(gateway: TestGateway): Promise<[string, string | null]> {
  const { token } = JSON.parse(readFileSync(join(gateway.dataDir, "operator.json"), "utf8")) as {
    token: string;
  };
  const answer = await fetch(`${gateway.url}/admin/v1/routes`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data } = (await answer.json()) as { data: Row[] };
  const { state, since } = data.find(({ route }) => route === ROUTE) ?? { state: "", since: null };
  return [state, since];
}

test.each(STORES)(
  "on %s the switch's time is the state's, after a restart too",
  async (store) => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const [state, began] = await standing(gateway);
      expect([state, typeof began]).toEqual(["live", "string"]);
      const before = Date.now();
      await root.app("POST /operator/routes/disable", {}, { route: ROUTE, reason: "why" });
      const [off, since] = await standing(gateway);
      expect(off).toBe("disabled");
      expect(Date.parse(since ?? "")).toBeWithin(before - 1_000, Date.now() + 1_000);
      const page = await root.app("GET /operator/routes");
      expect(page.data.find(({ route }) => route === ROUTE)).toMatchObject({ state: "disabled", since });
      await gateway.restart();
      expect(await standing(gateway)).toEqual(["disabled", since]);
    } finally {
      await gateway.stop();
    }
  },
  120_000,
);

test("two gateways of one store say the same of a switch and of a breaker", async () => {
  const database = await (await testPostgres()).migrated();
  const start = (keyOf?: TestGateway): Promise<TestGateway> =>
    startGateway({
      models: keyOf === undefined ? [PLAIN] : [],
      configure: (config) => {
        config.databaseUrl = database.url;
        if (keyOf === undefined) return;
        cpSync(join(keyOf.dataDir, "data.key"), join(config.dataDir, "data.key"));
        config.trust = { releaseKeys: [join(keyOf.dataDir, "trust.jwk")] };
      },
    });
  const one = await start();
  const two = await start(one);
  try {
    const root = await firstOperator(one);
    await root.app("POST /operator/providers/{provider}/open", { provider: "simulator" }, { reason: "why" });
    const opened = await standing(one);
    expect(opened).toEqual(["unhealthy", expect.any(String)]);
    await reads(() => standing(two), opened);
    await root.app("POST /operator/routes/disable", {}, { route: ROUTE, reason: "why" });
    const disabled = await standing(one);
    expect(disabled[0]).toBe("disabled");
    await reads(() => standing(two), disabled);
  } finally {
    await two.stop();
    await one.stop();
    await database.drop();
  }
}, 120_000);
