// An empty SQLite store with the newest schema, made once for all tests of a process and written for each of them: making
// one takes ten times as long. Its data key comes with it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const FILES = ["tollgate.sqlite", "data.key"];

let made: Map<string, Uint8Array> | undefined;

/** Puts one into a data directory that has none. */
export function placeMigratedStore(dataDirectory: string): void {
  made ??= makeStore();
  for (const [file, bytes] of made) writeFileSync(join(dataDirectory, file), bytes, { mode: 0o600 });
}

function makeStore(): Map<string, Uint8Array> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-migrated-"));
  openSqliteStore(directory).close();
  const files = new Map(FILES.map((file) => [file, readFileSync(join(directory, file))]));
  rmSync(directory, { recursive: true });
  return files;
}
