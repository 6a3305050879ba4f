// The ledger without a gateway around it: CPU per admitted and settled request, by the number in flight, on SQLite
// and on PostgreSQL (there with the database's CPU separately). Beside them the floor, which writes the same rows
// without deciding anything.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CpuMeter } from "../cpu-meter.ts";
import { GOALS, figure } from "../figure.ts";
import { LEAN_LEDGER, LEAN_LEDGER_POSTGRES, TOLLGATE, TOLLGATE_POSTGRES } from "../peer.ts";
import { launch, readyPort } from "../processes.ts";
import type { Figure, Goal } from "../figure.ts";
import type { BenchDatabase } from "../postgres.ts";
import type { Process } from "../processes.ts";
import type { Bench } from "./bench.ts";

export const IN_FLIGHT = [64, 16, 8, 1];
const PAIR_GOALS: ReadonlyMap<string, Goal> = new Map([
  [`${TOLLGATE} 64`, GOALS.ledgerMicros],
  [`${TOLLGATE} 8`, GOALS.ledgerMicrosFew],
]);

export interface LoneLedger {
  name: string;
  process: Process;
  port: number;
  database: BenchDatabase | null;
}

/** Started once per bench: a comparison takes this figure again and again. */
const started = new WeakMap<Bench, Promise<LoneLedger[]>>();

export async function ledgerAlone(bench: Bench): Promise<Figure[]> {
  const ledgers = await ledgersOf(bench);
  const samples = new Map<string, { gateway: number[]; database: number[] }>();
  for (let round = 0; round < bench.plan.rounds; round += 1)
    for (const ledger of round % 2 === 0 ? ledgers : ledgers.toReversed())
      for (const flying of IN_FLIGHT) {
        const cost = await costOf(ledger, { flying, ms: bench.plan.jsonMs / 2 });
        const place = `${ledger.name} ${flying}`;
        const row = samples.get(place) ?? { gateway: [], database: [] };
        samples.set(place, row);
        row.gateway.push(cost.gateway);
        row.database.push(cost.database);
      }
  return ledgers.flatMap((ledger) => IN_FLIGHT.flatMap((flying) => printed(ledger, flying, samples)));
}

/** Empty if the bench has no Tollgate. */
export async function ledgersOf(bench: Bench): Promise<LoneLedger[]> {
  if (bench.tollgate === null && bench.database === null) return [];
  const opening = started.get(bench) ?? open(bench);
  started.set(bench, opening);
  return await opening;
}

function printed(
  { name, database }: LoneLedger,
  flying: number,
  samples: Map<string, { gateway: number[]; database: number[] }>,
): Figure[] {
  const row = samples.get(`${name} ${flying}`);
  if (row === undefined) return [];
  const place = { section: "The ledger alone, admit + settle", peer: name, unit: "µs" };
  const own = figure(
    { ...place, name: `CPU per pair, ${flying} in flight` },
    row.gateway,
    PAIR_GOALS.get(`${name} ${flying}`) ?? null,
  );
  if (database === null) return [own];
  return [own, figure({ ...place, name: `database CPU per pair, ${flying} in flight` }, row.database)];
}

async function open(bench: Bench): Promise<LoneLedger[]> {
  const { tollgate, database, checkout } = bench;
  const program = join(checkout, "bench/ledger-alone.ts");
  const lean = join(checkout, "bench/lean-ledger.ts");
  const leanPostgres = join(checkout, "bench/lean-ledger-postgres.ts");
  if (!existsSync(program)) throw new Error("this revision has no ledger that runs alone");
  const ledgers: LoneLedger[] = [];
  const start = async (
    name: string,
    directory: string,
    on: BenchDatabase | null,
    file = program,
  ): Promise<void> => {
    mkdirSync(directory);
    const { process, stdout } = launch({
      command: [join(checkout, "tollgate-bun"), file],
      core: "gateway",
      environment: { DIRECTORY: directory, ...(on !== null && { DATABASE_URL: await on.empty() }) },
    });
    const ledger = { name, process, port: await readyPort(stdout), database: on };
    await costOf(ledger, { flying: 64, ms: bench.plan.firstWarmUpMs });
    ledgers.push(ledger);
  };
  if (tollgate !== null) await start(TOLLGATE, join(bench.scratchDir, "ledger-sqlite"), null);
  if (tollgate !== null && existsSync(lean))
    await start(LEAN_LEDGER, join(bench.scratchDir, "ledger-lean"), null, lean);
  if (database !== null) await start(TOLLGATE_POSTGRES, join(bench.scratchDir, "ledger-postgres"), database);
  if (database !== null && existsSync(leanPostgres))
    await start(LEAN_LEDGER_POSTGRES, join(bench.scratchDir, "ledger-lean-postgres"), database, leanPostgres);
  return ledgers;
}

/**
 * CPU microseconds per pair, of the ledger's process and of its database. `limited`: in organizations with limits on
 * this many subjects.
 */
export async function costOf(
  { process, port, database, name }: LoneLedger,
  { flying, ms, limited }: { flying: number; ms: number; limited?: number },
): Promise<{ gateway: number; database: number }> {
  const of = limited === undefined ? "" : `&limited=${limited}`;
  const meter = new CpuMeter(process);
  const before = database?.cpuSeconds() ?? 0;
  const answer = await fetch(`http://127.0.0.1:${port}/run?flying=${flying}&ms=${ms}${of}`);
  if (!answer.ok) throw new Error(`${name}: the ledger alone failed`);
  const { pairs } = (await answer.json()) as { pairs: number };
  return {
    gateway: (meter.seconds() * 1e6) / pairs,
    database: (((database?.cpuSeconds() ?? 0) - before) * 1e6) / pairs,
  };
}
