// Fills a store with the rows of one that has been in use: organizations in blocks, realistic row widths, in every
// table that a migration may touch. They serve to measure locks and times; the books do not add up.
import type { SqlDialect } from "../../src/store/sql.ts";

/** The SQL expressions in which the two stores differ. */
interface Words {
  /** Rows `i` = 1 … n. */
  series(n: number): string;
  hex: string;
  hash: string;
  no: string;
}

const WORDS: Readonly<Record<SqlDialect, Words>> = {
  postgresql: {
    series: (n) => `FROM generate_series(1::bigint, ${n}) AS s (i)`,
    hex: "lpad(to_hex(i), 32, '0')",
    hash: "decode(lpad(to_hex(i), 64, '0'), 'hex')",
    no: "false",
  },
  sqlite: {
    series: (n) =>
      `FROM (WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${n}) SELECT i FROM s)`,
    hex: "printf('%032x', i)",
    hash: "randomblob(32)",
    no: "0",
  },
};

/**
 * For each table: the migration that creates it, the number of rows for a given number of requests, and their columns.
 */
interface Filling {
  table: string;
  since: number;
  rows: (requests: number) => number;
  columns: (words: Words) => Record<string, string>;
}

const ORGANIZATIONS = 1_000;
const AT = 1_790_000_000_000;
const organization = (rows: number): string => `'org_' || (i * ${ORGANIZATIONS} / ${rows + 1})`;
const each = (): number => ORGANIZATIONS;
/** One attempt, of realistic width. */
const ATTEMPTS = `[{"route":"plain-1","provider":"simulator","digest":"${"d".repeat(64)}","outcome":"answered","status":200,"started_ms":1,"ended_ms":950,"executed":"yes"}]`;

const FILLINGS: readonly Filling[] = [
  {
    table: "organization",
    since: 1,
    rows: each,
    columns: () => ({ name: "'Organization ' || i", created_at: String(AT) }),
  },
  {
    table: "org_balance",
    since: 1,
    rows: each,
    columns: ({ hash }) => ({
      ...zero("slot", "held", "debt", "granted", "spent"),
      available: "1000000000",
      purchased: "1000000000",
      version: "1",
      head_hash: hash,
      stamped_at: String(AT),
    }),
  },
  {
    table: "request",
    since: 1,
    rows: (requests) => requests,
    columns: ({ hex, no }) => ({
      request_id: `'req_' || ${hex}`,
      key_id: "'key_' || (i % 3000)",
      model: "'plain-1'",
      tier: "'standard'",
      stream: no,
      state: "'settled'",
      epoch: "1",
      admitted_at: `${AT} + i`,
      deadline_at: `${AT} + i + 600000`,
      month: "'2026-09'",
      release_digest: `'${"d".repeat(64)}'`,
      hold: "5000000",
      prompt_bound: "1200",
      output_bound: "400",
      opened_txn: "i",
      closed_txn: "i",
      ended_at: `${AT} + i + 950`,
      evidence: "'usage'",
      prompt_tokens: "1100",
      completion_tokens: "250",
      charge: "3500000",
      status: "200",
      finish_reason: "'stop'",
      total_ms: "950",
      attempts: `'${ATTEMPTS}'`,
    }),
  },
  {
    table: "ledger_entry",
    since: 1,
    rows: (requests) => requests,
    columns: ({ hash }) => ({
      slot: "0",
      version: "i",
      txn: "i",
      kind: "'hold'",
      debit: "'available'",
      credit: "'held'",
      amount: "5000000",
      available_before: "1000000000",
      available_after: "995000000",
      held_before: "0",
      held_after: "5000000",
      requests: "1",
      at: `${AT} + i`,
      prev_hash: hash,
      hash,
    }),
  },
  {
    table: "claim",
    since: 1,
    rows: (requests) => requests / 10,
    columns: ({ hex, hash }) => ({
      key_id: "'key_' || (i % 3000)",
      idem_key: `'key-' || ${hex}`,
      fingerprint: hash,
      request_id: `'req_' || ${hex}`,
      expires_at: `${AT} + i`,
    }),
  },
  {
    table: "api_key",
    since: 1,
    rows: each,
    columns: ({ hash }) => ({
      key_id: "'key_' || i",
      name: "'key ' || i",
      prefix: "'sk-tg-' || i",
      digest: hash,
      scope: "'standard'",
      created_at: String(AT),
    }),
  },
  {
    table: "key_month",
    since: 1,
    rows: each,
    columns: () => ({
      ...zero("held", "spent"),
      key_id: "'key_' || i",
      month: "'2026-09'",
      last_admitted_at: String(AT),
    }),
  },
  {
    table: "usage_hour",
    since: 1,
    rows: (requests) => requests / 10,
    columns: () => ({
      key_id: "'key_' || (i % 3000)",
      model: "'plain-1'",
      hour: `${Math.floor(AT / 3_600_000)} + i`,
      requests: "10",
      input_tokens: "11000",
      cached_tokens: "0",
      output_tokens: "2500",
      charge: "35000000",
    }),
  },
  {
    table: "entitlement",
    since: 1,
    rows: each,
    columns: () => ({
      model: "'research-1'",
      id: "'ent_' || i",
      project: "'project'",
      state: "'active'",
      requested_by: "'usr_1'",
      created_at: String(AT),
      expires_at: `${AT} + 86400000`,
    }),
  },
  {
    table: "audit_log",
    since: 1,
    rows: (requests) => requests / 50,
    columns: () => ({
      at: `${AT} + i`,
      actor: "'usr_1'",
      action: "'key.create'",
      target: "'key_' || i",
      value_after: `'{"name":"key","scope":"standard"}'`,
    }),
  },
  {
    table: "payment_event",
    since: 3,
    rows: (requests) => requests / 100,
    columns: () => ({
      driver: "'stripe'",
      event_id: "'evt_' || i",
      type: "'checkout.session.completed'",
      outcome: "'credited'",
      deliveries: "1",
      received_at: `${AT} + i`,
    }),
  },
  {
    table: "journal",
    since: 4,
    rows: (requests) => requests / 4,
    columns: ({ hex, no }) => ({
      request_id: `'req_' || ${hex}`,
      key_id: "'key_' || (i % 3000)",
      kind: "'refused'",
      at: `${AT} + i`,
      status: "429",
      code: "'rate_limit_exceeded'",
      model: "'plain-1'",
      stream: no === "false" ? "0" : no,
    }),
  },
];

const zero = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, "0"]));

/** The statements that fill the tables made by this migration, each with its number of rows. */
export function fillingOf(
  version: number,
  requests: number,
  dialect: SqlDialect,
): { table: string; rows: number; sql: string }[] {
  const words = WORDS[dialect];
  return FILLINGS.filter(({ since }) => since === version).map(({ table, rows, columns }) => {
    const count = Math.max(1, Math.floor(rows(requests)));
    const own = {
      ...(table !== "audit_log" && table !== "payment_event" && { org_id: organization(count) }),
      ...(table === "organization" && { org_id: "'org_' || (i - 1)" }),
      ...(dialect === "postgresql" && table === "audit_log" && { id: `'aud_' || ${words.hex}` }),
      ...columns(words),
    };
    const sql = `INSERT INTO ${table} (${Object.keys(own).join(", ")}) SELECT ${Object.values(own).join(", ")} ${words.series(count)}`;
    return { table, rows: count, sql };
  });
}
