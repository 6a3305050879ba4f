// Measures the model's costs: the ledger alone on its own PostgreSQL, with few and many operations in flight, of one
// and of many organizations. The database itself counts commits, touches, log and rows.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { CpuMeter } from "../cpu-meter.ts";
import { startDatabase } from "../postgres.ts";
import { launch, readyPort } from "../processes.ts";
import { root } from "../peers.ts";
import { fitted } from "./fit.ts";
import type { Costs } from "./model.ts";

const ROUNDS = [
  { flying: 1, organizations: 1 },
  { flying: 8, organizations: 1 },
  { flying: 64, organizations: 1 },
  { flying: 64, organizations: 40 },
  { flying: 64, organizations: 400 },
  { flying: 256, organizations: 1 },
  { flying: 256, organizations: 400 },
];
const ROUND_MS = 3_000;

/** Per pair of admission and settlement. */
export interface Measured {
  flying: number;
  organizations: number;
  perSecond: number;
  commits: number;
  touches: number;
  databaseMicros: number;
  ledgerMicros: number;
  logBytes: number;
  storedBytes: number;
}

export async function measure(tell: (line: string) => void): Promise<Measured[]> {
  const database = await startDatabase();
  const directory = mkdtempSync(join(tmpdir(), "tollgate-load-model-"));
  try {
    const url = await database.empty();
    const { process, stdout } = launch({
      command: [join(root, "tollgate-bun"), join(root, "bench/ledger-alone.ts")],
      core: "gateway",
      environment: { DIRECTORY: directory, DATABASE_URL: url, ORGANIZATIONS: "400" },
    });
    const port = await readyPort(stdout);
    const run: Run = async (flying, organizations, ms) => {
      const asked = `flying=${flying}&organizations=${organizations}&ms=${ms}`;
      const answer = await fetch(`http://127.0.0.1:${port}/run?${asked}`);
      if (!answer.ok) throw new Error("the ledger alone failed");
      return ((await answer.json()) as { pairs: number }).pairs;
    };
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await run(64, 400, ROUND_MS);
    const found: Measured[] = [];
    for (const { flying, organizations } of ROUNDS) {
      await run(flying, organizations, ROUND_MS / 3);
      await client.query("CHECKPOINT"); // full-page images are then written once, in each round alike
      await toldByAll(run, flying, organizations);
      const before = await counted(client);
      const [cpu, databaseCpu, beganMs] = [new CpuMeter(process), database.cpuSeconds(), performance.now()];
      const timed = await run(flying, organizations, ROUND_MS);
      const seconds = (performance.now() - beganMs) / 1000;
      const [ledgerSeconds, databaseSeconds] = [cpu.seconds(), database.cpuSeconds() - databaseCpu];
      const pairs = timed + (await toldByAll(run, flying, organizations));
      const after = await counted(client);
      const per = (name: keyof Counted): number => (after[name] - before[name]) / pairs;
      found.push({
        flying,
        organizations,
        perSecond: timed / seconds,
        commits: per("transactions"),
        touches: per("touches"),
        databaseMicros: (databaseSeconds * 1e6) / timed,
        ledgerMicros: (ledgerSeconds * 1e6) / timed,
        logBytes: per("log"),
        storedBytes: per("stored"),
      });
      tell(`${flying} in flight, ${organizations} organizations: ${pairs} pairs`);
    }
    await client.end();
    await process.stop();
    return found;
  } finally {
    await database.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A connection reports statistics to the server with its first transaction after a second. Returns its pairs. */
async function toldByAll(run: Run, flying: number, organizations: number): Promise<number> {
  await Bun.sleep(1_100);
  return await run(flying, organizations, 40);
}

/** Returns the pairs of admission and settlement that ended. */
type Run = (flying: number, organizations: number, ms: number) => Promise<number>;

interface Counted {
  transactions: number;
  touches: number;
  log: number;
  stored: number;
}

async function counted(client: pg.Client): Promise<Counted> {
  const { rows } = await client.query<Record<keyof Counted, string>>(
    `SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS transactions,
            (SELECT count(DISTINCT (org_id, txn)) FROM ledger_entry) AS touches,
            pg_current_wal_lsn() - '0/0' AS log,
            pg_database_size(current_database()) AS stored`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database counted nothing");
  return {
    transactions: Number(row.transactions),
    touches: Number(row.touches),
    log: Number(row.log),
    stored: Number(row.stored),
  };
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The model's costs from the measurements; what only a whole gateway shows comes from `known`. */
export function costsFrom(rounds: readonly Measured[], known: Pick<Costs, "shell" | "writers">): Costs {
  const parts = (cost: (round: Measured) => number): Costs["database"] =>
    fitted(rounds.map((round) => ({ ...round, cost: cost(round) })));
  const alone = rounds.find(({ flying }) => flying === 1);
  const most = rounds.find(({ flying, organizations }) => flying === 64 && organizations === 1);
  if (alone === undefined || most === undefined) throw new Error("a round is missing");
  const commitMs = 1000 / alone.perSecond / alone.commits;
  return {
    shell: known.shell,
    writers: known.writers,
    database: parts(({ databaseMicros }) => databaseMicros),
    ledger: parts(({ ledgerMicros }) => ledgerMicros),
    log: parts(({ logBytes }) => logBytes),
    stored: median(rounds.map(({ storedBytes }) => storedBytes)),
    commitMs,
    // For a writer that is never idle: the time of a commit beyond its first operation, divided among the other
    // operations.
    operationMs: Math.max(0, (1000 / most.perSecond - commitMs * most.commits) / 2),
  };
}
