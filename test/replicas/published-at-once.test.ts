// Two operators publish different releases of one route under the same version at the same time: on two gateways of
// one PostgreSQL, and on one gateway of either store. One of them is published, the other one is told which version
// is used and what to do; charges during the race are those of a release that was reported as published.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, type TestManifest } from "../support/models.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const ROUNDS = 50;
/** The request minimum, in cents; its tokens cost much less. */
const asking = (version: number, cents: number): TestManifest => ({
  ...PLAIN,
  version,
  pricing: { ...PLAIN.pricing, request_minimum: (cents / 100).toFixed(2) },
});

describe.each(["one gateway on sqlite", "one gateway on postgres", "two gateways on postgres"])(
  "%s",
  (where) => {
    let database: TestDatabase | null = null;
    let gateways: [TestGateway, TestGateway];
    let customer: Customer;

    const open = (beside: TestGateway | null): Promise<TestGateway> =>
      startGateway({
        store: "sqlite", // or its own database below
        models: beside === null ? [asking(1, 1)] : [],
        ownDataKey: database !== null,
        configure: (config) => {
          config.databaseUrl = database?.url ?? null;
          if (beside === null) return;
          copyFileSync(join(beside.dataDir, "data.key"), join(config.dataDir, "data.key"));
          config.trust = { releaseKeys: [join(beside.dataDir, "trust.jwk")] };
        },
      });

    beforeAll(async () => {
      if (where.endsWith("postgres")) database = await (await testPostgres()).migrated();
      const first = await open(null);
      gateways = [first, where.startsWith("two") ? await open(first) : first];
      customer = await first.customer({ usd: "1000" });
    }, 120_000);
    afterAll(async () => {
      for (const gateway of new Set(gateways)) await gateway.stop();
      await database?.drop();
    });

    const costs = async (gateway: TestGateway): Promise<number> => {
      const { status, json, text } = await gateway.chat<{ gateway: GatewayJson }>(customer, hello());
      if (status !== 200) throw new Error(text);
      return Math.round(Number(json.gateway.cost.customer_charge_usd) * 100);
    };

    test("one of two is published, and every caller pays the price of a published one", async () => {
      let before = 1;
      for (let version = 2; version < 2 + ROUNDS; version += 1) {
        const asked = [2 * version, 2 * version + 1] as const;
        const files = await Promise.all(asked.map((cents) => gateways[0].sign(asking(version, cents))));
        const send = (nth: 0 | 1) => gateways[nth].admin<ErrorJson>("POST", "/releases", { jws: files[nth] });
        const meanwhile = Promise.all([...gateways, ...gateways].map(costs));
        const answers = await Promise.all([send(0), send(1)]);
        const after = await Promise.all(gateways.map(costs));
        const won = answers.findIndex(({ status }) => status === 200);
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
        const { error } = answers[1 - won]?.json ?? {};
        expect(error).toMatchObject({ code: "release_refused", step: "version" });
        expect(error?.message).toContain(
          `Version ${version} of ${PLAIN.model}@simulator/local is not above ${version}`,
        );
        expect(error?.message).toContain("Give it a higher version and sign it again.");
        const winner = asked[won] ?? 0;
        expect(after).toEqual([winner, winner]);
        expect([before, winner]).toEqual(expect.arrayContaining([...new Set(await meanwhile)]));
        before = winner;
      }
      const { json } = await gateways[1].admin<{ ok: boolean }>("GET", "/ledger/audit");
      expect(json.ok).toBe(true);
    }, 120_000);
  },
);
