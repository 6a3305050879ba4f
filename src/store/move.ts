// Copies an SQLite store into an empty PostgreSQL one: every table that is not the store's own bookkeeping, column by
// column, in one transaction, with counts and money sums compared before it commits. Copying twice changes nothing.
import { Database } from "bun:sqlite";
import type { ClientBase } from "pg";
import { PEOPLE_SCHEMA } from "../domain/data-files.ts";
import { migrate } from "./migrate.ts";
import { StoreFailure } from "./store-failure.ts";

/** Tables about the stores themselves; each store has its own. */
const BOOKKEEPING = new Set(["schema_migration", "store_state", "instance"]);
/** Sums that must be the same on both sides. */
const SUMS: readonly [table: string, column: string][] = [
  ["org_balance", "available"],
  ["org_balance", "held"],
  ["org_balance", "spent"],
  ["org_balance", "purchased"],
  ["org_balance", "granted"],
  ["ledger_entry", "amount"],
  ["request", "hold"],
  ["request", "charge"],
  ["key_month", "spent"],
  ["usage_hour", "charge"],
  ["topup", "amount"],
];
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

export interface Moved {
  /** Table → rows. */
  rows: Record<string, number>;
  /** `table.column` → nano-USD. */
  sums: Record<string, bigint>;
}

type Value = bigint | number | string | Uint8Array | null;

/** `source`: a reader with exact integers. `target`: fenced, for this move only. Throws, and changes nothing, if they differ. */
export async function copyStore(source: Database, target: ClientBase): Promise<Moved> {
  await target.query("BEGIN");
  try {
    const tables = tablesOf(source);
    const rows: Moved["rows"] = {};
    // All or nothing: existing rows are complete, from an earlier run that was interrupted later.
    const copied = await holdsAnything(target, tables);
    for (const table of tables)
      rows[table] = copied ? rowsOf(source, table) : await copyTable(source, target, table);
    const sums = await compare(source, target, rows);
    // Transaction numbers continue above those that the entries name.
    const epoch = single(source, "SELECT epoch FROM store_state");
    await target.query("UPDATE store_state SET epoch = greatest(epoch, $1) WHERE id = 1", [epoch]);
    await target.query("COMMIT");
    return { rows, sums };
  } catch (error) {
    await target.query("ROLLBACK").catch(() => {}); // the connection is gone with its transaction
    throw error;
  }
}

/** Returns the tables to copy: all but the store's own bookkeeping. */
const tablesOf = (source: Database): string[] =>
  (source.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").values() as [string][])
    .map(([name]) => name)
    .filter((name) => !BOOKKEEPING.has(name) && !name.startsWith("sqlite_"));

/** The tables of this program's schema: a store that is to be moved may not have all of them yet. */
function tablesOfProgram(): string[] {
  const database = new Database(":memory:", { safeIntegers: true });
  try {
    migrate(database);
    return tablesOf(database);
  } finally {
    database.close();
  }
}

async function holdsAnything(target: ClientBase, tables: readonly string[]): Promise<string | null> {
  for (const table of tables) {
    const { rows } = await target.query(`SELECT 1 FROM ${quoted(table)} LIMIT 1`);
    if (rows.length > 0) return table;
  }
  return null;
}

/** `schema.table`, or a table of the schema that is searched first. */
const quoted = (table: string): string => table.replaceAll(/[^.]+/g, '"$&"');

/** Accounts have a schema of their own; each other row in it belongs to one of these. */
const OF_PEOPLE = [`${PEOPLE_SCHEMA}.user`, `${PEOPLE_SCHEMA}.invitation`];

/** Throws a `StoreFailure` that names the first table with a row; an older schema may lack some of them. */
export async function assertEmpty(target: ClientBase): Promise<void> {
  const { rows } = await target.query<{ name: string }>(
    "SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL",
    [[...tablesOfProgram(), ...OF_PEOPLE]],
  );
  const table = await holdsAnything(
    target,
    rows.map(({ name }) => name),
  );
  if (table !== null)
    throw new StoreFailure(
      "database",
      `the database is not empty: ${table} has rows`,
      "name an empty database",
    );
}

const rowsOf = (source: Database, table: string): number =>
  Number(single(source, `SELECT count(*) FROM "${table}"`));

/** Copies the rows into the table of that name in the target's schema; returns how many. */
async function copyTable(source: Database, target: ClientBase, table: string): Promise<number> {
  const columns = await columnsOf(source, target, table);
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ");
  const insert = `INSERT INTO "${table}" (${names}) SELECT * FROM unnest(${arrays})`;
  let copied = 0;
  let batch: unknown[][] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0)
      await target.query(
        insert,
        columns.map((_, index) => batch.map((row) => row[index])),
      );
    copied += batch.length;
    batch = [];
    bytes = 0;
  };
  const rows = source.query(`SELECT ${columns.map(({ from }) => from).join(", ")} FROM "${table}"`).iterate();
  for (const row of rows as Iterable<Record<string, Value>>) {
    const values = Object.values(row);
    batch.push(values.map((value, index) => converted(value, columns[index]?.type)));
    bytes += values.reduce<number>(
      (sum, value) => sum + (value instanceof Uint8Array ? value.byteLength : 0),
      0,
    );
    if (batch.length >= ROWS_AT_ONCE || bytes >= BYTES_AT_ONCE) await flush();
  }
  await flush();
  return copied;
}

/** SQLite has no booleans and no timestamps. */
function converted(value: Value, type: string | undefined): unknown {
  if (value === null) return null;
  if (type === "boolean") return Number(value) === 1;
  if (type?.startsWith("timestamp") && typeof value !== "string") return new Date(Number(value));
  return value;
}

interface Column {
  name: string;
  type: string;
  /** The expression that reads it from SQLite. */
  from: string;
}

/** The numbered lines of the audit log get ids that keep their order. */
const AUDIT_ID = "'aud_' || printf('%012x', at) || printf('%020x', seq) AS id";

async function columnsOf(source: Database, target: ClientBase, table: string): Promise<Column[]> {
  const { rows } = await target.query<{ name: string; type: string }>(
    `SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
     WHERE table_name = $1 AND table_schema = current_schema() ORDER BY ordinal_position`,
    [table],
  );
  const theirs = new Map(rows.map(({ name, type }) => [name, type]));
  const ours = (source.query(`SELECT name FROM pragma_table_info('${table}')`).values() as [string][]).map(
    ([name]) => name,
  );
  const named = table === "audit_log" ? ours.map((name) => (name === "seq" ? "id" : name)) : ours;
  const unknown = named.filter((name) => !theirs.has(name));
  if (unknown.length > 0) throw new Error(`${table} of the new store lacks ${unknown.join(", ")}`);
  return named.map((name) => ({
    name,
    type: theirs.get(name) ?? "",
    from: table === "audit_log" && name === "id" ? AUDIT_ID : `"${name}"`,
  }));
}

async function compare(source: Database, target: ClientBase, rows: Moved["rows"]): Promise<Moved["sums"]> {
  for (const [table, copied] of Object.entries(rows)) {
    const found = await count(target, `SELECT count(*)::bigint AS value FROM ${table}`);
    if (found !== BigInt(copied)) throw new Error(`${table}: ${copied} rows were copied, ${found} are there`);
  }
  const sums: Moved["sums"] = {};
  for (const [table, column] of SUMS) {
    const [high = 0n, low = 0n] = source
      .query(`SELECT ifnull(sum(${column} >> 31), 0), ifnull(sum(${column} & 2147483647), 0) FROM ${table}`)
      .values()[0] as bigint[];
    const sum = (high << 31n) + low;
    const { rows: told } = await target.query<{ value: string }>(
      `SELECT coalesce(sum(${column}), 0)::text AS value FROM ${table}`,
    );
    const found = BigInt(told[0]?.value ?? 0);
    if (found !== sum) throw new Error(`${table}.${column}: ${sum} here, ${found} there`);
    sums[`${table}.${column}`] = sum;
  }
  return sums;
}

const single = (source: Database, sql: string): bigint => source.query(sql).values()[0]?.[0] as bigint;

async function count(target: ClientBase, sql: string): Promise<bigint | undefined> {
  const { rows } = await target.query<{ value: bigint }>(sql);
  return rows[0]?.value;
}
