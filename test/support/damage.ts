// Damages data behind the gateway's back, like a flipped bit on a disk: no trigger, check or reference applies.
// Damages one column of one row at a time, and restores it.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import pg from "pg";
import { PEOPLE_FILE, STORE_FILE } from "../../src/domain/data-files.ts";

type Place = "ledger" | "people";
type Value = string | number | bigint | boolean | Uint8Array | Date | null;
type Row = Record<string, Value>;

export interface Disk {
  rows(place: Place, statement: string, ...values: Value[]): Promise<Row[]>;
  /** The columns of a table, those of its primary key first. */
  columns(place: Place, table: string): Promise<{ name: string; isKey: boolean }[]>;
  tables(place: Place): Promise<string[]>;
  /** The table's name in a statement. */
  named(place: Place, table: string): string;
  close(): Promise<void>;
}

/** Opens a gateway's stores: its data directory, or its database. */
export async function openDisk({
  dataDir,
  databaseUrl,
}: {
  dataDir: string;
  databaseUrl: string | null;
}): Promise<Disk> {
  return databaseUrl === null ? sqliteDisk(dataDir) : await postgresDisk(databaseUrl);
}

function sqliteDisk(dataDir: string): Disk {
  const files = { ledger: STORE_FILE, people: PEOPLE_FILE };
  const open = (place: Place): Database => {
    const database = new Database(join(dataDir, files[place]), { safeIntegers: true });
    for (const pragma of ["ignore_check_constraints = ON", "foreign_keys = OFF", "busy_timeout = 5000"])
      database.run(`PRAGMA ${pragma}`);
    const triggers = database.query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    );
    for (const { name } of triggers.all()) database.run(`DROP TRIGGER "${name}"`);
    return database;
  };
  const databases = { ledger: open("ledger"), people: open("people") };
  return {
    rows: async (place, statement, ...values) =>
      databases[place].query<Row, never[]>(statement).all(...(values as never[])),
    columns: async (place, table) =>
      databases[place]
        .query<{ name: string; pk: bigint }, []>(`PRAGMA table_info("${table}")`)
        .all()
        .map(({ name, pk }) => ({ name, isKey: pk > 0n }))
        .toSorted(keysFirst),
    tables: async (place) =>
      databases[place]
        .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .all()
        .map(({ name }) => name)
        .filter((name) => !name.startsWith("sqlite_")),
    named: (_, table) => `"${table}"`,
    close: async () => {
      databases.ledger.close();
      databases.people.close();
    },
  };
}

async function postgresDisk(url: string): Promise<Disk> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SET session_replication_role = replica");
  const schemas = { ledger: "public", people: "people" };
  const read = async <T extends Row>(statement: string, ...values: Value[]): Promise<T[]> =>
    (await client.query<T>(statement.replaceAll(/\?(\d+)/g, "$$$1"), values)).rows;
  return {
    rows: (_, statement, ...values) => read(statement, ...values),
    columns: async (place, table) =>
      (
        await read<{ name: string; is_key: boolean }>(
          `SELECT c.column_name AS name, EXISTS (
             SELECT 1 FROM information_schema.table_constraints t
             JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name)
             WHERE t.constraint_type = 'PRIMARY KEY' AND t.table_schema = c.table_schema
               AND t.table_name = c.table_name AND k.column_name = c.column_name) AS is_key
           FROM information_schema.columns c
           WHERE c.table_schema = ?1 AND c.table_name = ?2 ORDER BY c.ordinal_position`,
          schemas[place],
          table,
        )
      )
        .map(({ name, is_key }) => ({ name, isKey: is_key }))
        .toSorted(keysFirst),
    tables: async (place) =>
      (
        await read<{ name: string }>(
          `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname = ?1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
          schemas[place],
        )
      ).map(({ name }) => name),
    named: (place, table) => `${schemas[place]}."${table}"`,
    close: () => client.end(),
  };
}

const keysFirst = (a: { isKey: boolean }, b: { isKey: boolean }): number => Number(b.isKey) - Number(a.isKey);

/** The largest number that both databases hold: not a valid time, and adding to it overflows. */
const BRIM = 2n ** 63n - 1n;

/** Damaged values for a column, the worst first; a store refuses those that its column type excludes. */
function damagedValues(value: Value, isMoney: boolean): Value[] {
  if (value instanceof Uint8Array) {
    const flipped = Uint8Array.from(value);
    const middle = flipped.length >> 1;
    flipped[middle] = (flipped[middle] ?? 0) ^ 1;
    return [flipped];
  }
  if (value instanceof Date) return ["294276-12-31T00:00:00Z"]; // valid in PostgreSQL, not in JavaScript
  if (typeof value === "boolean") return [!value];
  if (typeof value === "string" && !/^-?\d+$/.test(value)) return [`{"damaged\u0001${value.slice(3)}`];
  if (value === null) return [BRIM, '{"damaged'];
  const number = BigInt(value as string | number | bigint);
  return [BRIM, isMoney ? number ^ (1n << 40n) : number ^ 1n, '{"damaged'];
}

export interface Damage {
  place: Place;
  table: string;
  column: string;
  /** A condition that identifies the row: the first one that matches. */
  where: string;
  isMoney: boolean;
  /** Index of the column in its table. */
  nth: number;
}

/** Damages the column of the row. Returns how to restore it, or null if the store accepts no damaged value. */
export async function damage(
  disk: Disk,
  { place, table, column, where, isMoney }: Damage,
): Promise<(() => Promise<void>) | null> {
  const name = disk.named(place, table);
  const [before] = await disk.rows(place, `SELECT * FROM ${name} WHERE ${where} LIMIT 1`);
  if (before === undefined) throw new Error(`${table} has no row of ${where}`);
  const keys = (await disk.columns(place, table)).filter(({ isKey }) => isKey).map((one) => one.name);
  const others = (keys.length > 0 ? keys : Object.keys(before)).filter((key) => key !== column);
  const at = ["1 = 1", ...others.map((key, n) => `"${key}" IS NOT DISTINCT FROM ?${n + 3}`)].join(" AND ");
  const set = (to: Value, from: Value): Promise<Row[]> =>
    disk.rows(
      place,
      `UPDATE ${name} SET "${column}" = ?1 WHERE ("${column}" IS NOT DISTINCT FROM ?2) AND ${at}`,
      to,
      from,
      ...others.map((key) => before[key] ?? null),
    );
  const old = before[column] ?? null;
  for (const value of damagedValues(old, isMoney))
    try {
      await set(value, old);
      return async () => void (await set(old, value));
    } catch {
      // Refused by its type, uniqueness or a check: try the next one.
    }
  return null;
}
