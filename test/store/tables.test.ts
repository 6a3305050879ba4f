// The declared row types match both databases: each table and column, its type, whether it may be null, and the words
// that a column may hold.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import pg from "pg";
import { migrate } from "../../src/store/migrate.ts";
import { type Columns, TABLES } from "../../src/store/tables.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testPostgres } from "../support/postgres.ts";

type Dialect = "sqlite" | "postgresql";
type Found = Record<string, Record<string, string>>;

const KINDS = {
  sqlite: { text: "TEXT", whole: "INTEGER", bytes: "BLOB", flag: "INTEGER" },
  postgresql: { text: "text", whole: "bigint", bytes: "bytea", flag: "boolean" },
};

/** `table → column → type`, with a `?` if it may be null. */
function told(dialect: Dialect): Found {
  const other = dialect === "sqlite" ? "postgresql" : "sqlite";
  const kinds = KINDS[dialect];
  return Object.fromEntries(
    Object.entries<Columns>(TABLES).flatMap(([table, columns]) => {
      const lists: [string, string][] = [
        [columns.text ?? "", kinds.text],
        [columns.textOrNull ?? "", `${kinds.text}?`],
        [columns.whole ?? "", kinds.whole],
        [columns.wholeOrNull ?? "", `${kinds.whole}?`],
        [columns.money ?? "", kinds.whole],
        [columns.moneyOrNull ?? "", `${kinds.whole}?`],
        [columns.bytes ?? "", kinds.bytes],
        [columns.flag ?? "", kinds.flag],
        [Object.keys(columns.oneOf ?? {}).join(" "), kinds.text],
        [Object.keys(columns.oneOfOrNull ?? {}).join(" "), `${kinds.text}?`],
      ];
      const missing = new Set((columns.only?.[other] ?? "").split(" "));
      const own = lists.flatMap(([names, type]) =>
        names.split(" ").flatMap((name) => (name === "" || missing.has(name) ? [] : [[name, type]])),
      );
      return own.length === 0 ? [] : [[table, Object.fromEntries(own) as Record<string, string>]];
    }),
  );
}

function sqliteSchema(): { found: Found; checks: string[] } {
  const database = new Database(":memory:");
  migrate(database);
  const tables = database
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  const found: Found = {};
  for (const { name } of tables) {
    const columns = database
      .query<{ name: string; type: string; notnull: number; pk: number }, []>(`PRAGMA table_info(${name})`)
      .all();
    found[name] = Object.fromEntries(
      columns.map((column) => [
        column.name,
        column.notnull === 1 || column.pk > 0 ? column.type : `${column.type}?`,
      ]),
    );
  }
  return {
    found,
    checks: tables.flatMap(({ name, sql }) =>
      [...sql.matchAll(/\b(\w+) IN \(([^)]*)\)/g)].map(
        ([, column, words = ""]) => `${name}.${column} ${words}`,
      ),
    ),
  };
}

test("the tables of SQLite are as declared, including checked words", () => {
  const { found, checks } = sqliteSchema();
  expect(told("sqlite")).toEqual(found);
  expect(checks.length).toBeGreaterThan(5);
  for (const check of checks) {
    const [, table = "", column = "", words = ""] = /^(\w+)\.(\w+) (.*)$/.exec(check) ?? [];
    const columns: Columns = TABLES[table as keyof typeof TABLES];
    const known = { ...columns.oneOf, ...columns.oneOfOrNull }[column] ?? "";
    const missing = words.split(", ").filter((word) => !known.split(" ").includes(word.slice(1, -1)));
    expect({ check, missing }).toEqual({ check, missing: [] });
  }
});

test("the tables of PostgreSQL are as declared", async () => {
  const database = await (await testPostgres()).database();
  const { url } = database;
  const store = await openPostgresStore(url, mkdtempSync(join(tmpdir(), "tables-")));
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    const { rows } = await client.query<Record<"table" | "name" | "type" | "nullable", string>>(
      `SELECT c.table_name AS table, c.column_name AS name, c.data_type AS type, c.is_nullable AS nullable
       FROM information_schema.columns c JOIN pg_class p ON p.relname = c.table_name AND NOT p.relispartition
       WHERE c.table_schema = current_schema()`,
    );
    const found: Found = {};
    for (const { table, name, type, nullable } of rows)
      (found[table] ??= {})[name] = nullable === "YES" ? `${type}?` : type;
    expect(told("postgresql")).toEqual(found);
  } finally {
    await client.end();
    await store.close();
    await database.drop();
  }
});
