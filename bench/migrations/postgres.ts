// Runs every migration on a PostgreSQL full of rows, and times how long writers wait for each table meanwhile: one
// probe per table takes a writer's lock again and again and keeps its longest wait.
import pg from "pg";
import { MIGRATIONS } from "../../src/store/migrations/list.ts";
import { migrateThen } from "../../src/store/postgres-migrate.ts";
import { PostgresServer } from "../../test/support/postgres.ts";
import { fillingOf } from "./fill.ts";
import type { Measured } from "./measured.ts";

/** Tuned as an operator would for such a store; durability does not matter here. */
const SERVER = {
  shared_buffers: "1GB",
  max_wal_size: "16GB",
  maintenance_work_mem: "256MB",
  autovacuum: "off",
  dynamic_shared_memory_type: "mmap",
};
/** Each request writes or locks one of them. */
const HOT = [
  "request",
  "org_balance",
  "ledger_entry",
  "key_month",
  "usage_hour",
  "claim",
  "result",
  "stream_chunk",
  "api_key",
  "journal",
] as const;

const BETWEEN_PROBES_MS = 2;

/** Writers that take their lock again and again. */
class Probes {
  private readonly longest = new Map<string, number>();
  private stopped = false;
  private readonly running: Promise<void>[] = [];

  constructor(private readonly url: string) {}

  start(tables: readonly string[]): void {
    for (const table of tables) this.running.push(this.probe(table));
  }

  async stop(): Promise<ReadonlyMap<string, number>> {
    this.stopped = true;
    await Promise.all(this.running);
    return this.longest;
  }

  private async probe(table: string): Promise<void> {
    const client = await connected(this.url);
    while (!this.stopped) {
      const askedMs = performance.now();
      await client.query(`BEGIN; LOCK TABLE ${table} IN ROW EXCLUSIVE MODE; COMMIT`);
      const waitedMs = performance.now() - askedMs;
      this.longest.set(table, Math.max(this.longest.get(table) ?? 0, waitedMs));
      await Bun.sleep(BETWEEN_PROBES_MS);
    }
    await client.end();
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Fills and migrates step by step; reports each step to `tell`. */
export async function measurePostgres(requests: number, tell: (line: string) => void): Promise<Measured[]> {
  const server = await PostgresServer.start(SERVER);
  try {
    const { url } = await server.database();
    const client = await connected(url);
    const all = MIGRATIONS.postgresql;
    const measured: Measured[] = [];
    for (const [index, { version, name }] of all.entries()) {
      const there = await client.query<{ name: string }>(
        "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relname = ANY($1)",
        [[...HOT]],
      );
      const probes = new Probes(url);
      probes.start(there.rows.map((row) => row.name));
      await Bun.sleep(50); // each has measured a lock's usual time by then
      const beganMs = performance.now();
      await migrateThen(client, async () => {}, { migrations: all.slice(0, index + 1) });
      const tookMs = performance.now() - beganMs;
      const waits = await probes.stop();
      measured.push({ version, name, tookMs, waits });
      tell(`${version} ${name}: ${tookMs.toFixed(0)} ms`);
      for (const { table, rows, sql } of fillingOf(version, requests, "postgresql")) {
        const filledMs = performance.now();
        await client.query(sql);
        tell(`  ${table}: ${rows} rows in ${((performance.now() - filledMs) / 1000).toFixed(1)} s`);
      }
    }
    await client.end();
    return measured;
  } finally {
    await server.stop();
  }
}
