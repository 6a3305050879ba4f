import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeSqlite, connectSqlite, lookInto } from "./sqlite-connection.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-connection-"));
afterAll(() => rmSync(folder, { recursive: true }));

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
