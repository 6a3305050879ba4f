// What somebody with the database's own rights could do, without any trigger, check or reference in the way: each
// change is found by the audit, by its invariant, and the audit is clean once it is undone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { firstOperator } from "../support/browser.ts";
import { type Disk, openDisk } from "../support/damage.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

const ROUTE = "plain-1@simulator/local";
/** What is done to the rows of the organization `?1`, and how it is undone. */
type Act = [what: string, invariant: string, done: string[], undone: string[]];

const MONTH_MS = 31 * 86_400_000;
/** Changes a column of rows by some amount, and back. */
const moved = (
  table: string,
  column: string,
  by: number | string,
  back: number | string,
): [string[], string[]] => [
  [`UPDATE ${table} SET ${column} = ${by} WHERE org_id = ?1`],
  [`UPDATE ${table} SET ${column} = ${back} WHERE org_id = ?1`],
];
const later = (table: string, column: string): [string[], string[]] =>
  moved(table, column, `${column} + ${MONTH_MS}`, `${column} - ${MONTH_MS}`);
/** Removes a row, and restores it from a copy. */
const removed = (table: string): [string[], string[]] => [
  [
    `CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE org_id = ?1`,
    `DELETE FROM ${table} WHERE org_id = ?1`,
  ],
  [`INSERT INTO ${table} SELECT * FROM kept_${table} WHERE org_id = ?1`, `DROP TABLE kept_${table}`],
];
const COPIED =
  "txn + 100000, kind, debit, credit, amount, available_before, available_after, held_before, held_after, requests, reference, at, prev_hash, hash";

const ACTS: Act[] = [
  ["a balance, whose entries nobody would follow then", "I5", ...removed("org_balance")],
  [
    "an entry beside the chain",
    "I5",
    [
      `INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before, available_after, held_before,
         held_after, requests, reference, at, prev_hash, hash)
       SELECT org_id, 1, 1, ${COPIED} FROM ledger_entry WHERE org_id = ?1 AND version = 1`,
    ],
    ["DELETE FROM ledger_entry WHERE org_id = ?1 AND slot = 1"],
  ],
  ["a key, to which charges belong", "I4", ...removed("api_key")],
  [
    "requests into another month, with what their key spent",
    "I4",
    [
      "UPDATE request SET month = '2020-01' WHERE org_id = ?1",
      "UPDATE key_month SET month = '2020-01' WHERE org_id = ?1",
    ],
    [
      "UPDATE request SET month = (SELECT max(month) FROM kept_month) WHERE org_id = ?1",
      "UPDATE key_month SET month = (SELECT max(month) FROM kept_month) WHERE org_id = ?1",
    ],
  ],
  [
    "requests into another hour, with the hour's usage",
    "I6",
    [
      "UPDATE request SET admitted_at = admitted_at - 3600000 WHERE org_id = ?1",
      "UPDATE usage_hour SET hour = hour - 1 WHERE org_id = ?1",
    ],
    [
      "UPDATE request SET admitted_at = admitted_at + 3600000 WHERE org_id = ?1",
      "UPDATE usage_hour SET hour = hour + 1 WHERE org_id = ?1",
    ],
  ],
  ["the end of requests, by which statements list their charges", "I6", ...later("request", "ended_at")],
  ["credits that came, whose entries stay", "I16", ...removed("topup")],
  ["credits that went back, whose entries stay", "I16", ...removed("reversal")],
  ["when credits came", "I16", ...later("topup", "at")],
  ["when credits went back", "I16", ...later("reversal", "at")],
  [
    "the balance that a top-up left",
    "I16",
    ...moved("topup", "balance_after", "balance_after + 1", "balance_after - 1"),
  ],
  [
    "the balance that a reversal left",
    "I16",
    ...moved("reversal", "balance_after", "balance_after + 1", "balance_after - 1"),
  ],
  ["a revoked key, revived", "I15", revoked("NULL"), revoked("(SELECT max(revoked_at) FROM kept_key)")],
  [
    "a key that ended by itself, revived",
    "I15",
    ["UPDATE audit_log SET action = 'key.expire' WHERE action = 'key.revoke'", ...revoked("NULL")],
    [
      "UPDATE audit_log SET action = 'key.revoke' WHERE action = 'key.expire'",
      ...revoked("(SELECT max(revoked_at) FROM kept_key)"),
    ],
  ],
  ["a revoked key, which can be resumed", "I15", [...pausedAsOf("revoked_at")], [...pausedAsOf("NULL")]],
  [
    "requests to another model, with its usage",
    "I8",
    [
      "UPDATE request SET model = 'another' WHERE org_id = ?1",
      "UPDATE usage_hour SET model = 'another' WHERE org_id = ?1",
    ],
    [
      "UPDATE request SET model = 'plain-1' WHERE org_id = ?1",
      "UPDATE usage_hour SET model = 'plain-1' WHERE org_id = ?1",
    ],
  ],
  ["requests to another tier", "I8", ...moved("request", "tier", "'research'", "'standard'")],
  [
    "a route back to a former release",
    "I20",
    [`UPDATE route_state SET highest_version = 1 WHERE route = '${ROUTE}'`],
    [`UPDATE route_state SET highest_version = 2 WHERE route = '${ROUTE}'`],
  ],
  [
    "what a release says, beside what was signed",
    "I20",
    [`UPDATE route_release SET expires_at = expires_at + ${MONTH_MS} WHERE route = '${ROUTE}'`],
    [`UPDATE route_release SET expires_at = expires_at - ${MONTH_MS} WHERE route = '${ROUTE}'`],
  ],
  ["the digests of two releases of a route", "I8", swapped(), swapped()],
  [
    "a revoked management key, which opens every door again",
    "I15",
    ["UPDATE management_key SET revoked_at = NULL WHERE name = 'spare'"],
    [
      "UPDATE management_key SET revoked_at = (SELECT at FROM audit_log WHERE action = 'management_key.revoke' AND target = management_key.id) WHERE name = 'spare'",
    ],
  ],
  [
    "a revoked key, whose end lies later",
    "I15",
    ...moved("api_key", "revoked_at", "revoked_at + 1", "revoked_at - 1"),
  ],
  [
    "a revoked management key, whose end lies later",
    "I15",
    ["UPDATE management_key SET revoked_at = revoked_at + 1 WHERE name = 'spare'"],
    ["UPDATE management_key SET revoked_at = revoked_at - 1 WHERE name = 'spare'"],
  ],
];

/** Changes the revoked key as if it had been revoked then, or never. */
function revoked(at: string): string[] {
  return [
    `UPDATE api_key SET revoked_at = ${at} WHERE org_id = ?1 AND key_id = (SELECT max(key_id) FROM kept_key)`,
  ];
}

/** Changes the revoked key as if it had been paused then, or never. */
function pausedAsOf(at: string): string[] {
  return [
    `UPDATE api_key SET paused_at = ${at} WHERE org_id = ?1 AND key_id = (SELECT max(key_id) FROM kept_key)`,
  ];
}

/** Puts the other release's price under this one's digest. */
function swapped(): string[] {
  const of = (version: number): string =>
    `(SELECT digest FROM kept_release WHERE route = '${ROUTE}' AND version = ${version})`;
  return [
    `UPDATE route_release SET digest = 'none' WHERE route = '${ROUTE}' AND version = 1 AND digest = ${of(1)}`,
    `UPDATE route_release SET digest = 'none-2' WHERE route = '${ROUTE}' AND version = 1 AND digest = ${of(2)}`,
    `UPDATE route_release SET digest = CASE WHEN digest = ${of(2)} THEN ${of(1)} ELSE ${of(2)} END WHERE route = '${ROUTE}' AND version = 2`,
    `UPDATE route_release SET digest = ${of(2)} WHERE digest = 'none'`,
    `UPDATE route_release SET digest = ${of(1)} WHERE digest = 'none-2'`,
  ];
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let customer: Customer;
  let disk: Disk;

  beforeAll(async () => {
    let databaseUrl: string | null = null;
    gateway = await startGateway({ store, configure: (config) => void (databaseUrl = config.databaseUrl) });
    customer = await gateway.customer();
    const served = async (): Promise<string> =>
      (await gateway.chat<{ gateway: { request_id: string } }>(customer, hello())).json.gateway.request_id;
    const first = await served();
    await gateway.publish({ ...PLAIN, version: 2, pricing: { ...PLAIN.pricing, input_per_million: "3" } });
    await served();
    const refund = { request: first, usd: "0.00001", reference: "r" };
    expect((await gateway.admin("POST", "/credits/refund", refund)).status).toBe(200);
    const { organizationId: org } = customer;
    const spare = await gateway.admin<{ id: string }>("POST", "/keys", { org, name: "spare" });
    expect((await gateway.admin("POST", `/keys/${spare.json.id}/revoke`)).status).toBe(200);
    const root = await firstOperator(gateway);
    const { id } = await root.app("POST /operator/management-keys", {}, { name: "spare" });
    await root.app("POST /operator/management-keys/{key}/revoke", { key: id });
    disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
    await disk.rows("ledger", "CREATE TABLE kept_month AS SELECT month FROM key_month");
    await disk.rows(
      "ledger",
      "CREATE TABLE kept_key AS SELECT key_id, revoked_at FROM api_key WHERE revoked_at IS NOT NULL",
    );
    await disk.rows(
      "ledger",
      "CREATE TABLE kept_release AS SELECT route, version, digest FROM route_release",
    );
  });
  afterAll(async () => {
    await disk.close();
    await gateway.stop();
  });

  const run = async (statements: string[]): Promise<void> => {
    for (const statement of statements)
      await disk.rows("ledger", statement.replaceAll("?1", `'${customer.organizationId}'`));
  };

  test.each(ACTS)("%s", async (_, invariant, done, undone) => {
    expect((await gateway.ledger.verify()).violations).toEqual([]);
    await run(done);
    const { ok, violations } = await gateway.ledger.verify();
    await run(undone);
    expect([ok, violations.map((one) => one.invariant.split(" ")[0])]).toEqual([
      false,
      expect.arrayContaining([invariant]) as string[],
    ]);
  });
});
