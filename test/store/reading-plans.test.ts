// Pages of one organization among others, over 100,000 requests: every statement of every read of an organization
// uses an index, in both databases; none scans a table. A new read is included as soon as it is declared.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pg from "pg";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AppRoute } from "../../src/api/client.ts";
import type { Endpoint } from "../../src/api/endpoint.ts";
import type { Rooms } from "../../src/api/rooms.ts";
import { LabelBook } from "../../src/reporting/labels.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres.ts";
import { postgresSql } from "../../src/store/postgres-sql.ts";
import type { Sql } from "../../src/store/sql.ts";
import { sqliteSql } from "../../src/store/sqlite-sql.ts";
import { TARGETS } from "../support/endpoints.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const ROWS = 100_000;
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const SPAN_MS = 60 * 86_400_000;
/** Those that have rows here: an empty one is scanned, and rightly. */
const HEAVY = ["request", "journal", "ledger_entry", "usage_hour", "usage_hour_other"];

/** All but the index of the requests that run, which are few. */
const SCANS = /^SCAN (\w+)(?! USING (?:COVERING )?INDEX request_unfinished)/;
/** As bad as a scan: everything that an organization, or a key of it, ever used. */
const ALL_HOURS = /^SEARCH (usage_hour) USING PRIMARY KEY \((?!.*hour)/;

interface Opened {
  sql: Sql;
  run(text: string): Promise<unknown>;
  /** Tables that the statement scans. */
  walked(text: string, values: readonly unknown[]): Promise<string[]>;
  close(): Promise<void>;
}

function sqlite(): Promise<Opened> {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  return Promise.resolve({
    sql: sqliteSql({ writer }),
    run: (text) => Promise.resolve(writer.run(text)),
    walked: (text) => {
      const steps = writer.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all();
      const walked = steps.flatMap(({ detail }) => (SCANS.exec(detail) ?? ALL_HOURS.exec(detail))?.[1] ?? []);
      // A subquery that has a table's name is scanned, too: it is the piece that it read.
      for (const { detail } of steps) {
        const at = walked.indexOf(/^(?:CO-ROUTINE|MATERIALIZE) (\w+)$/.exec(detail)?.[1] ?? "");
        if (at >= 0) walked.splice(at, 1);
      }
      return Promise.resolve(walked);
    },
    close: () => Promise.resolve(writer.close()),
  });
}

async function postgres(): Promise<Opened> {
  const database: TestDatabase = await (await testPostgres()).database();
  const store: PostgresStore = await openPostgresStore(database.url, mkdtempSync(join(tmpdir(), "plans-")));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    sql: postgresSql(store.pool),
    run: (text) => client.query(text),
    walked: async (text, values) => {
      const asked = `EXPLAIN ${text.replaceAll(/\?(\d+)/g, "$$$1")}`;
      const { rows } = await client.query<Record<"QUERY PLAN", string>>(asked, [...values]);
      return rows.flatMap((row) => /Seq Scan on (\w+)/.exec(row["QUERY PLAN"])?.[1] ?? []);
    },
    close: async () => {
      await client.end();
      await store.close();
      await database.drop();
    },
  };
}

async function fill(opened: Opened): Promise<void> {
  const lite = opened.sql.dialect === "sqlite";
  const at = `(${NOW_MS - SPAN_MS} + i * ${SPAN_MS / ROWS})`;
  const hex = (n: string): string =>
    lite ? `printf('%012x', ${n})` : `lpad(to_hex((${n})::bigint), 12, '0')`;
  const id = `'req_' || ${hex(at)} || '7' || ${hex("i")} || '0000000'`;
  const [yes, bytes] = lite ? ["0", "zeroblob(32)"] : ["false", "decode(repeat('00', 32), 'hex')"];
  const many = `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
  await opened.run(
    `INSERT INTO organization (org_id, name, created_at) SELECT 'org_a', 'A', 0 UNION ALL SELECT 'org_b', 'B', 0`,
  );
  await opened.run(`INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
    VALUES ('org_a', 0, 0, 0, 0, 0, 0, 0, ${ROWS}, ${bytes}, 0)`);
  await opened.run(`${lite ? "" : many} INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at,
      month, release_digest, hold, prompt_bound, output_bound, opened_txn, closed_txn, prompt_tokens, status, first_part_ms)
    ${lite ? many : ""} SELECT CASE WHEN i % 20 = 0 THEN 'org_a' ELSE 'org_b' END, ${id}, 'key_1', 'm', 'standard', ${yes},
      CASE WHEN i = ${ROWS} THEN 'dispatched' ELSE 'settled' END, 1, ${at}, ${at}, '2026-11', 'd', 0, 1, 1, i,
      CASE WHEN i = ${ROWS} THEN NULL ELSE i END, 1, 200, 5 FROM n`);
  await opened.run(`${lite ? "" : many} INSERT INTO journal (request_id, org_id, key_id, kind, at, status, code, stream)
    ${lite ? many : ""} SELECT ${id}, CASE WHEN i % 20 = 0 THEN 'org_a' ELSE 'org_b' END, 'key_1', 'refused', ${at}, 400, 'x', 0 FROM n`);
  await opened.run(`${lite ? "" : many} INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
    ${lite ? many : ""} SELECT CASE WHEN i % 20 = 0 THEN 'org_a' ELSE 'org_b' END, 'key_' || (i % 50), 'm', ${Math.floor(NOW_MS / 3_600_000)} - i / 50, 1, 1, 0, 1, 1 FROM n
`);
  await opened.run(`${lite ? "" : many} INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before, available_after,
      held_before, held_after, requests, at, prev_hash, hash)
    ${lite ? many : ""} SELECT CASE WHEN i % 20 = 0 THEN 'org_a' ELSE 'org_b' END, 0, i, i, 'settle', 'a', 'b', 1, 0, 0, 0, 0, 1, ${at}, ${bytes}, ${bytes} FROM n`);
  // As in production: nobody runs ANALYZE on an SQLite store, which would skip from key to key if it knew how few
  // there are.
  if (!lite) await opened.run("ANALYZE");
}

/** Further parameters besides the path: those that use another index. */
const ALSO: Partial<Record<AppRoute, readonly Record<string, unknown>[]>> = {
  "GET /orgs/{org}/activity": [{ range: "24h" }, { find: "an idempotency key" }, { state: "running" }],
  "GET /orgs/{org}/activity/histogram": [{ range: "30d" }],
  "GET /orgs/{org}/billing/statement": [{ month: "2026-10" }],
  "GET /operator/requests": [{ org: undefined, range: "24h" }, { find: "an idempotency key" }],
  "GET /orgs/{org}/usage": [
    { range: "30d", group_by: "key" },
    { range: "7d", group_by: "key", then_by: "model", model: "m" },
    { range: "30d", group_by: "provider" },
  ],
};
/** Parameters that a read requires. */
const NEEDED: Partial<Record<AppRoute, Record<string, unknown>>> = {
  "GET /orgs/{org}/keys/{key}": { key: "key_1" },
  "GET /orgs/{org}/keys/{key}/refusals": { key: "key_1", range: "30d" },
  "GET /orgs/{org}/search": { q: `req_${"0".repeat(32)}` },
};
/** Reads of other rooms, which have no rows of requests; streams, which read what a list reads. */
const ELSEWHERE = new Set<AppRoute>([
  "GET /orgs/{org}/activity/tail",
  "GET /orgs/{org}/alerts/channels",
  "GET /orgs/{org}/alerts/deliveries",
  "GET /orgs/{org}/alerts/rules",
  "GET /orgs/{org}/billing/auto-top-up",
  "GET /orgs/{org}/billing/orders",
  "GET /orgs/{org}/invitations",
  "GET /orgs/{org}/limits",
  "GET /orgs/{org}/models",
  "GET /orgs/{org}/models/estimate",
  "GET /orgs/{org}/research",
  "GET /orgs/{org}/settings",
  "GET /orgs/{org}/usage/views",
]);
const READS = TARGETS.flatMap(({ target, endpoint }): { route: AppRoute; endpoint: Endpoint }[] => {
  const route = target.replace(" /app/v1", " ") as AppRoute;
  const isRead =
    /^GET \/orgs\/\{org\}\/(keys\/\{key\})?[^{]*$/.test(route) || route === "GET /operator/requests";
  return isRead && !ELSEWHERE.has(route) ? [{ route, endpoint }] : [];
});

const BALANCE = {
  organizationId: "org_a",
  available: 1n,
  held: 0n,
  debt: 0n,
  purchased: 1n,
  granted: 0n,
  spent: 0n,
  paidWorkspace: true,
};
/** The rooms of endpoints, over this store; rooms of other tables are empty. */
function roomsOn(sql: Sql): Partial<Rooms> {
  const ledger = {
    balance: () => Promise.resolve(BALANCE),
    read: () => Promise.resolve([]),
  };
  const labels = new LabelBook(sql, ledger as never);
  labels.releasesOf = () => Promise.resolve(new Map());
  const people = {
    persons: () => Promise.resolve([]),
    membership: () => Promise.resolve(null),
    memberships: () => Promise.resolve([]),
    memberCounts: () => Promise.resolve(new Map()),
    membersAfter: () => Promise.resolve([]),
    membersAmong: () => Promise.resolve(new Set()),
    ownerCount: () => Promise.resolve(1),
  };
  const reports = {
    sql,
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    ledger,
    labels,
    people,
    standings: () => [],
    listedRoutes: () => [],
    flushRequestLog: () => Promise.resolve(),
    paymentService: { autoTopUp: () => Promise.resolve({ last_failure: null }) },
    alertService: { rules: () => Promise.resolve({ data: [] }) },
  };
  const key = {
    id: "key_1",
    org: "org_a",
    created_at: "2026-11-01T00:00:00.000Z",
    limit_usd: "5.000000000",
    month_spend_usd: "0.000000000",
    held_usd: "0.000000000",
    day_limit_usd: null,
    week_limit_usd: null,
  };
  const operator = {
    keys: {
      list: () => Promise.resolve({ data: [key] }),
      named: () => Promise.resolve([]),
      find: () => Promise.resolve(key),
    },
  };
  const payments = { terms: () => ({ driver: "manual" }) };
  return { reports, people, operator, payments, nowMs: () => NOW_MS } as unknown as Partial<Rooms>;
}
const CALLER = { actor: { id: "usr_1" }, standing: "operator", allowance: "all" };
const SIGNED_IN = { ...CALLER, signedIn: { person: { id: "usr_1", operator: true } } };

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
] as const)("%s", (_, open) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
    await fill(opened);
  }, 120_000);
  afterAll(() => opened.close());

  test.each(READS)(
    "$route scans no table",
    async ({ route, endpoint }) => {
      const asked: { text: string; values: readonly unknown[] }[] = [];
      const rooms = roomsOn({
        ...opened.sql,
        rows: (text, ...values) => {
          asked.push({ text, values });
          return opened.sql.rows(text, ...values);
        },
      });
      for (const more of [{}, ...(ALSO[route] ?? [])])
        await endpoint.run(
          { input: { org: "org_a", ...NEEDED[route], ...more }, caller: SIGNED_IN, exchange: null },
          rooms,
        );
      expect(asked).not.toBeEmpty();
      for (const { text, values } of asked) {
        const walked = (await opened.walked(text, values)).filter((table) => HEAVY.includes(table));
        expect({ text, walked }).toEqual({ text, walked: [] });
      }
    },
    120_000,
  );
});
