// The write-ahead log of an SQLite file: during a long read, an audit or a backup, it holds all that is written meanwhile.
import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  closeSqlite,
  connectSqlite,
  databasePath,
  LOG_KEPT_BYTES,
  lookInto,
  openReader,
} from "./sqlite-connection.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-log-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the file's growth during a long read is given back afterwards", () => {
  const writer = connectSqlite(databasePath(folder));
  const logBytes = (): number => statSync(`${databasePath(folder)}-wal`).size;
  writer.run("CREATE TABLE filled (bytes BLOB) STRICT");
  const fill = (): void => {
    for (let written = 0; written <= LOG_KEPT_BYTES; written += 1 << 20)
      writer.run("INSERT INTO filled VALUES (zeroblob(1 << 20))");
  };
  const reader = openReader(folder);
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM filled").values();
  fill();
  fill();
  expect(logBytes()).toBeGreaterThan(2 * LOG_KEPT_BYTES);
  reader.run("COMMIT");
  for (let commits = 0; commits < 2; commits += 1) writer.run("INSERT INTO filled VALUES (x'00')");
  expect(logBytes()).toBeLessThanOrEqual(LOG_KEPT_BYTES);
  reader.close();
  writer.close();
});

test("a file that was closed is whole without its log, even while a thread still has it open", () => {
  const path = join(folder, "store.sqlite");
  const writer = connectSqlite(path);
  const reader = connectSqlite(path);
  writer.run("CREATE TABLE kept (value)");
  writer.run("INSERT INTO kept VALUES ('the last commit')");
  expect(reader.query("SELECT * FROM kept").all()).toHaveLength(1);
  closeSqlite(writer);
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  const moved = join(folder, "moved.sqlite");
  copyFileSync(path, moved);
  expect(lookInto(moved, (database) => database.query("SELECT * FROM kept").values())).toEqual([
    ["the last commit"],
  ]);
  closeSqlite(reader);
});
