import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPeopleStore } from "../people/open-store.ts";
import { openSqliteStore } from "./sqlite.ts";
import { StoreFailure } from "./store-failure.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-private-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function refusal(open: () => unknown): string {
  try {
    open();
    return "";
  } catch (error) {
    expect(error).toBeInstanceOf(StoreFailure);
    return String(error);
  }
}

test("a directory in place of a file, as Docker mounts a missing secret, is refused by name", () => {
  const dataDir = join(folder, "mounted");
  mkdirSync(join(dataDir, "data.key"), { recursive: true });
  expect(refusal(() => openSqliteStore(dataDir))).toContain(
    `${dataDir}/data.key cannot be read and written (it is a directory)`,
  );
});

test("a store that is not a database is refused by name and left unchanged", async () => {
  const dataDir = join(folder, "damaged");
  openSqliteStore(dataDir).close();
  for (const name of ["tollgate.sqlite", "people.sqlite"])
    writeFileSync(join(dataDir, name), "not a database, and longer than the first bytes of one".repeat(20));
  expect(refusal(() => openSqliteStore(dataDir))).toContain(
    `${dataDir}/tollgate.sqlite cannot be opened (file is not a database)`,
  );
  const people = await openPeopleStore({ dataDir, databaseUrl: null }).catch(String);
  expect(people).toContain(`${dataDir}/people.sqlite cannot be opened (file is not a database)`);
});

test("the people's store opens while another connection is closing, instead of being refused as locked", async () => {
  const dataDir = mkdtempSync(join(folder, "closing-"));
  const path = join(dataDir, "people.sqlite");
  const holder = Bun.spawn(
    [
      process.execPath,
      "-e",
      `const { Database } = require("bun:sqlite");
       const held = new Database(${JSON.stringify(path)}, { create: true });
       held.run("BEGIN EXCLUSIVE");
       console.log("held");
       await Bun.sleep(300);
       held.close();`,
    ],
    { stdout: "pipe" },
  );
  for await (const _ of holder.stdout) break;
  const store = await openPeopleStore({ dataDir, databaseUrl: null });
  expect(await store.rows("PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }]);
  await store.close();
  await holder.exited;
});
