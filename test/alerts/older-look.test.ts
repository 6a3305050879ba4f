// A round whose snapshot is older than what others have done since, on both stores: it repeats no message, and sends
// nothing under outdated terms.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import pg from "pg";
import { byItself } from "../../src/domain/actor.ts";
import type { Figures } from "../../src/alerts/readings.ts";
import { watchRules } from "../../src/alerts/watch.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { NEWEST } from "../../src/store/page.ts";
import { below } from "../support/alert-rules.ts";
import { startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let org: string;
  let database: TestDatabase | null = null;
  beforeAll(async () => {
    database = store === "postgres" ? await (await testPostgres()).migrated() : null;
    gateway = await startGateway({
      store: "sqlite",
      configure: (config) => {
        config.databaseUrl = database?.url ?? null;
      },
    });
  }, 120_000);
  afterAll(async () => {
    await gateway.stop();
    await database?.drop();
  });
  beforeEach(async () => {
    org = (await gateway.customer({ usd: "50" })).organizationId;
  });

  /** Starts a round, runs `meanwhile` after it has read the balance, then lets it continue. */
  function round(meanwhile: () => Promise<unknown> = async () => null): Promise<void> {
    const { rules, crossings, outbox } = gateway.alerts;
    const figuresOf = (organizationId: string) => {
      const balance = async (): Promise<unknown> => {
        const found = await gateway.ledger.balance(organizationId);
        if (organizationId === org) await meanwhile();
        return found;
      };
      return { nowMs: Date.now, balance } as unknown as Figures;
    };
    return watchRules({ rules, crossings, outbox, look: () => figuresOf, nowMs: Date.now }, (error) => {
      throw error;
    });
  }
  const told = async (): Promise<string[]> =>
    (await gateway.alerts.outbox.page(org, NEWEST, { limit: 100 })).rows.map(({ text }) => text).reverse();
  const topUp = (usd: string) => gateway.admin("POST", "/credits", { org, usd, kind: "purchase" });
  const takeBack = (dollars: number) =>
    gateway.ledger.reverse(
      {
        organizationId: org,
        amount: nanoUsd(BigInt(dollars) * 1_000_000_000n),
        kind: "chargeback",
        target: "pi",
        source: "test",
        externalId: crypto.randomUUID(),
      },
      byItself("test"),
    );

  test("a crossing that was reported, and has ended since, is not reported again", async () => {
    const { id } = await gateway.alerts.rules.add(org, below(100), Date.now());
    await round(async () => {
      await round();
      await topUp("100");
      await round();
    });
    expect([await told(), (await gateway.alerts.crossings.firing([org])).get(id)]).toEqual([
      ["The balance is $50.00, below $100.00."],
      undefined,
    ]);
  });

  test("a crossing that others saw after this round read a balance above it is not forgotten", async () => {
    await gateway.alerts.rules.add(org, below(20), Date.now());
    await round(async () => {
      await takeBack(40);
      await round();
    });
    await round();
    expect(await told()).toEqual(["The balance is $10.00, below $20.00."]);
  });

  test("two rules that cross in one round are reported in this round", async () => {
    await gateway.alerts.rules.add(org, below(100), Date.now());
    await gateway.alerts.rules.add(org, below(200), Date.now());
    await round();
    expect(await told()).toHaveLength(2);
  });

  test.skipIf(store !== "postgres")(
    "an edit that commits while a crossing is written has the last word",
    async () => {
      const { id } = await gateway.alerts.rules.add(org, below(100), Date.now());
      // A transaction's snapshot of who waits is taken at its first read, so another one looks.
      const [editor, onlooker] = [1, 2].map(
        () => new pg.Client({ connectionString: database?.url ?? "" }),
      ) as [pg.Client, pg.Client];
      await Promise.all([editor.connect(), onlooker.connect()]);
      await editor.query("BEGIN");
      await editor.query("UPDATE alert_rule SET amount = 20000000000 WHERE rule_id = $1", [id]);
      await editor.query("DELETE FROM alert_state WHERE rule_id = $1", [id]);
      let ended = false;
      const watching = round().then(() => (ended = true));
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%alert_rule%'";
      await waitFor(
        async () => ended || (await onlooker.query(waiting)).rows.length > 0,
        "the round to end or wait",
      );
      await editor.query("COMMIT");
      await Promise.all([editor.end(), onlooker.end()]);
      await watching;
      expect([await told(), (await gateway.alerts.crossings.firing([org])).get(id)]).toEqual([[], undefined]);
    },
  );
});
