// Runs every migration on an SQLite store full of rows. Nobody else has the store open, so that a migration's time is
// what it adds to a start.
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations/list.ts";
import { fillingOf } from "./fill.ts";
import type { Measured } from "./measured.ts";

const NOBODY: ReadonlyMap<string, number> = new Map();

export function measureSqlite(requests: number, tell: (line: string) => void): Measured[] {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-migrations-"));
  const database = new Database(join(folder, "store.sqlite"), { create: true, safeIntegers: true });
  try {
    for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "cache_size = -65536"])
      database.run(`PRAGMA ${pragma}`);
    const all = MIGRATIONS.sqlite;
    return all.map(({ version, name }, index) => {
      const beganMs = performance.now();
      migrate(database, { migrations: all.slice(0, index + 1) });
      const tookMs = performance.now() - beganMs;
      tell(`${version} ${name}: ${tookMs.toFixed(0)} ms`);
      for (const { table, rows, sql } of fillingOf(version, requests, "sqlite")) {
        const filledMs = performance.now();
        database.run(sql);
        tell(`  ${table}: ${rows} rows in ${((performance.now() - filledMs) / 1000).toFixed(1)} s`);
      }
      return { version, name, tookMs, waits: NOBODY };
    });
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
