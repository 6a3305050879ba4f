import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "./migrate.ts";
import type { Migration } from "./migrations/list.ts";

const FIRST: Migration = { version: 1, name: "first", sql: "CREATE TABLE first (a INTEGER) STRICT" };
const SECOND: Migration = { version: 2, name: "second", sql: "CREATE TABLE second (a INTEGER) STRICT" };
const BROKEN: Migration = { version: 3, name: "broken", sql: "CREATE TABLE first (a INTEGER) STRICT" };

const emptyStore = (): Database => new Database(":memory:", { safeIntegers: true, strict: true });
const applied = (database: Database): unknown[] =>
  database.query("SELECT name FROM schema_migration ORDER BY version").values().flat();
const tables = (database: Database): unknown[] =>
  database.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").values().flat();

test("an empty store gets all migrations, or none if one fails", () => {
  const database = emptyStore();
  expect(() => migrate(database, { migrations: [FIRST, SECOND, BROKEN] })).toThrow(/already exists/);
  expect({ applied: applied(database), tables: tables(database) }).toEqual({
    applied: [],
    tables: ["schema_migration"],
  });
  migrate(database, { migrations: [FIRST, SECOND] });
  expect(applied(database)).toEqual(["first", "second"]);
});

test("a store in use keeps each migration that succeeded", () => {
  const database = emptyStore();
  migrate(database, { migrations: [FIRST] });
  expect(() => migrate(database, { migrations: [FIRST, SECOND, BROKEN] })).toThrow(/already exists/);
  expect({ applied: applied(database), tables: tables(database) }).toEqual({
    applied: ["first", "second"],
    tables: ["first", "schema_migration", "second"],
  });
});
