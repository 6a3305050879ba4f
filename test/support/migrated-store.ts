// An empty SQLite store with the newest schema, made once per process and copied for each test, because making one
// takes ten times as long. It comes with its data key, and a reserve file of the right size that reserves nothing:
// tests of a full disk have the store make its own.
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DATA_KEY_FILE, STORE_FILE } from "../../src/domain/data-files.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const FILES = [STORE_FILE, DATA_KEY_FILE];
const RESERVE = "ballast";

interface MadeStore {
  files: Map<string, Uint8Array>;
  reserveBytes: number;
}

let made: MadeStore | undefined;

/** Puts one into a data directory that has none. */
export function placeMigratedStore(dataDirectory: string): void {
  made ??= makeStore();
  for (const [file, bytes] of made.files) writeFileSync(join(dataDirectory, file), bytes, { mode: 0o600 });
  const reserve = join(dataDirectory, RESERVE);
  writeFileSync(reserve, "", { mode: 0o600 });
  truncateSync(reserve, made.reserveBytes);
}

function makeStore(): MadeStore {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-migrated-"));
  openSqliteStore(directory).close();
  const files = new Map(FILES.map((file) => [file, readFileSync(join(directory, file))]));
  const reserveBytes = statSync(join(directory, RESERVE)).size;
  rmSync(directory, { recursive: true });
  return { files, reserveBytes };
}
