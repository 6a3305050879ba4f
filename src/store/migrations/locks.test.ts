// What a migration may do to a table that every request writes, while they do: add columns that cost nothing. Anything
// that rewrites or reads the whole table blocks it for seconds at ten million rows (npm run bench:migrations).
import { expect, test } from "bun:test";
import { MIGRATIONS } from "./list.ts";
import { withoutScan } from "./postgres/without-scan.ts";

/** Tables written by requests, or along with them. */
const HOT =
  "request org_balance ledger_entry key_month usage_hour claim result stream_chunk api_key journal".split(
    " ",
  );

/** A column without a value, or with the same value for every row: only the catalog changes. */
const FREE = [
  /^ALTER TABLE \w+ ADD COLUMN \w+ (TEXT|BIGINT|BYTEA|BOOLEAN)( NOT NULL DEFAULT (-?\d+|true|false|'[^']*'))?$/,
  /^ALTER TABLE \w+ ADD CONSTRAINT \w+ CHECK \(.*\) NOT VALID$/,
];

/** Statements released before they were measured, each with the reason why no request waits for it. */
const KNOWN: Readonly<Record<string, string>> = {
  "8 CREATE INDEX journal_keys": "rows of refused requests, written after their answer",
  "18 CREATE INDEX api_key_live": "keys are read meanwhile; making one waits",
  "18 CREATE INDEX api_key_revoked": "keys are read meanwhile; making one waits",
  "22 CREATE INDEX api_key_paused": "keys are read meanwhile; making one waits",
  "22 CREATE INDEX api_key_ending": "keys are read meanwhile; making one waits",
};

const statementsOf = (sql: string): string[] =>
  sql
    .replaceAll(/--[^\n]*/g, "")
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "");

/** Returns the hot table that a statement touches; null for a table created here, or any other. */
function tableOf(statement: string, made: ReadonlySet<string>): string | null {
  const [, table = ""] =
    /^(?:ALTER TABLE(?: ONLY)?|CREATE (?:UNIQUE )?INDEX \w+ ON|UPDATE|DELETE FROM|DROP TABLE|LOCK TABLE|CREATE TRIGGER \w+ .* ON) (\w+)/.exec(
      statement,
    ) ?? [];
  return HOT.includes(table) && !made.has(table) ? table : null;
}

/** Returns the statements on existing hot tables that are not free. */
function costly(version: number, sql: string): string[] {
  const statements = statementsOf(withoutScan(sql));
  const made = new Set(statements.flatMap((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1] ?? []));
  return statements
    .filter((statement) => tableOf(statement, made) !== null && !FREE.some((free) => free.test(statement)))
    .map((statement) => `${version} ${statement.split(" ").slice(0, 3).join(" ")}`);
}

test("no migration reads or rewrites a table that requests write, except the known ones", () => {
  const found = MIGRATIONS.postgresql.flatMap(({ version, sql }) => costly(version, sql));
  expect(found.toSorted()).toEqual(Object.keys(KNOWN).toSorted());
});

test.each([
  ["an index", "CREATE INDEX request_surface ON request (surface);"],
  ["a row of another type", "ALTER TABLE request ALTER COLUMN status TYPE TEXT;"],
  ["a value that differs by row", "ALTER TABLE request ADD COLUMN at BIGINT NOT NULL DEFAULT random();"],
  [
    "a column that must not be null, of rows that have none",
    "ALTER TABLE claim ALTER COLUMN at SET NOT NULL;",
  ],
  ["a filled column", "UPDATE ledger_entry SET kind = 'hold' WHERE kind IS NULL;"],
  ["a unique column", "ALTER TABLE api_key ADD COLUMN hint TEXT UNIQUE;"],
  ["a check of what is there", "ALTER TABLE result ADD CONSTRAINT short CHECK (length(sealed) < 9);"],
])("a migration with %s would be found", (_, sql) => {
  expect(costly(99, sql)).toHaveLength(1);
});

test("a checked column is added without its check, then the check is added for new rows", () => {
  const sql = "ALTER TABLE request ADD COLUMN lowered BIGINT NOT NULL DEFAULT 0 CHECK (lowered >= 0);";
  expect(statementsOf(withoutScan(sql))).toEqual([
    "ALTER TABLE request ADD COLUMN lowered BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE request ADD CONSTRAINT request_lowered_check CHECK (lowered >= 0) NOT VALID",
  ]);
  expect(costly(99, sql)).toEqual([]);
});

test("statements without a check, and tables created with one, are unchanged", () => {
  for (const sql of [
    "ALTER TABLE request ADD COLUMN surface TEXT;",
    "CREATE TABLE fresh (n BIGINT CHECK (n > 0));",
  ])
    expect(withoutScan(sql)).toBe(sql);
});
