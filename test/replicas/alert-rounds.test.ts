// The cost of evaluating alert rules for a database shared by several gateways: one of them evaluates, and reads many
// at once.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import pg from "pg";
import type { RuleTerms } from "../../src/alerts/rule-book.ts";
import { NEWEST } from "../../src/store/page.ts";
import { below } from "../support/alert-rules.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../support/wait.ts";

const ORGANIZATIONS = 60;
let database: TestDatabase;
let first: TestGateway;
let second: TestGateway;
let organizations: string[];

beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  const start = (beside?: TestGateway): Promise<TestGateway> =>
    startGateway({
      ...(beside !== undefined && { models: [] }),
      configure: (config) => {
        config.databaseUrl = database.url;
        if (beside !== undefined)
          copyFileSync(join(beside.dataDir, "data.key"), join(config.dataDir, "data.key"));
      },
    });
  first = await start();
  second = await start(first);
  organizations = await Promise.all(
    Array.from({ length: ORGANIZATIONS }, async () => (await first.customer({ usd: "50" })).organizationId),
  );
}, 120_000);
afterAll(async () => {
  await second.stop();
  await database.drop();
});

const failures: unknown[] = [];
const look = (gateway: TestGateway): Promise<void> => gateway.alerts.watch((error) => failures.push(error));
const told = async (organizationId: string): Promise<string[]> =>
  (await first.alerts.outbox.page(organizationId, NEWEST, { limit: 10 })).rows.map(({ text }) => text);

test("420 rules of 60 organizations are evaluated with fewer than 60 statements", async () => {
  const terms: Partial<RuleTerms>[] = [
    { kind: "balance_below" },
    { kind: "days_left_below", amount: null, days: 3 },
    { kind: "spend_per_day" },
    { kind: "key_limit", amount: null, percent: 80 },
    { kind: "error_rate", amount: null, percent: 50 },
    { kind: "route_not_live", amount: null },
    { kind: "auto_top_up_failed", amount: null },
  ];
  for (const organizationId of organizations)
    for (const term of terms)
      await first.alerts.rules.add(organizationId, { ...below(1), ...term }, Date.now());
  const statements = spyOn(pg.Client.prototype, "query");
  await look(first);
  const asked = statements.mock.calls.length;
  statements.mockRestore();
  expect(asked).toBeLessThan(60);
  expect(failures).toEqual([]);
}, 120_000);

test("each organization's alerts have its own figures", async () => {
  const [one = "", another = ""] = organizations;
  await first.alerts.rules.add(one, below(60), Date.now());
  await first.admin("POST", "/credits", { org: another, usd: "100", kind: "purchase" });
  await first.alerts.rules.add(another, below(160), Date.now());
  await look(first);
  expect([await told(one), await told(another)]).toEqual([
    ["The balance is $50.00, below $60.00."],
    ["The balance is $150.00, below $160.00."],
  ]);
});

test("the oldest gateway evaluates, and the next one once it has gone", async () => {
  expect(await Promise.all([first.ledger.leads(), second.ledger.leads()])).toEqual([true, false]);
  await first.stop();
  await waitFor(() => second.ledger.leads(), "the second to lead");
  expect(await first.ledger.leads()).toBe(false);
});
