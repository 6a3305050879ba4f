// The benchmark (`npm run bench [-- --quick] [--only "memory,stalled client"]`): brings up the upstream and every peer, takes
// the figures of performance.md §4 in interleaved rounds, prints them beside their targets and, when they are all of them,
// keeps raw numbers and a chart in bench/results/.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chart } from "./chart.ts";
import { addedLatency } from "./figures/added-latency.ts";
import { clientGone } from "./figures/client-gone.ts";
import { conservation } from "./figures/conservation.ts";
import { extended } from "./figures/extended.ts";
import { jsonCost } from "./figures/json-cost.ts";
import { idleMemory, memory } from "./figures/memory.ts";
import { refusalCost } from "./figures/refusal-cost.ts";
import { replicas } from "./figures/replicas.ts";
import { stalledClient } from "./figures/stalled-client.ts";
import { startToReady } from "./figures/start-to-ready.ts";
import { streamCost } from "./figures/stream-cost.ts";
import { warmUp } from "./figures/warm-up.ts";
import { PORTKEY } from "./portkey/peer.ts";
import { PEERS, root, startUpstream } from "./peers.ts";
import { FULL, QUICK } from "./plan.ts";
import { pinGenerator, stopAll } from "./processes.ts";
import { describeMachine, printTable } from "./report.ts";
import { TOLLGATE_POSTGRES } from "./peer.ts";
import { startDatabase } from "./postgres.ts";
import { startTollgate } from "./tollgate-peer.ts";
import type { Bench, Measure } from "./figures/bench.ts";
import type { Results } from "./report.ts";

/** In this order: idle memory before any load, restarts after all of it. */
const MEASURES: [name: string, measure: Measure][] = [
  ["idle memory", idleMemory],
  ["warm-up", warmUp],
  ["JSON cost", jsonCost],
  ["stream cost", streamCost],
  ["added latency", addedLatency],
  ["refusals", refusalCost],
  ["memory", memory],
  ["client gone", clientGone],
  ["stalled client", stalledClient],
  ["conservation", conservation],
  ["replicas", replicas],
  ["extended", extended],
  ["start to ready", startToReady],
];

/** Peers that a machine may lack; everything else must be measured. */
const OPTIONAL: ReadonlySet<string> = new Set(["nginx", PORTKEY]);

const USAGE = `npm run bench -- [--quick] [--controls-only] [--only "NAME,NAME"]
The figures: ${MEASURES.map(([name]) => name).join(", ")}.`;
const asked = options();

/** Minutes of measuring are not begun on words that mean nothing here. */
function options() {
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values } = parseArgs({
      options: { quick: flag, only: { type: "string" }, "controls-only": flag, help: flag },
    });
    if (!values.help) return values;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

/** The figures asked for by `--only`, in their order here; all of them without it. */
function wantedMeasures(): typeof MEASURES {
  if (asked.only === undefined) return MEASURES;
  const names = asked.only.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !MEASURES.some(([known]) => known === name));
  if (names.length === 0 || unknown.length > 0) {
    console.error(`--only takes names of figures: ${MEASURES.map(([name]) => name).join(", ")}`);
    process.exit(2);
  }
  return MEASURES.filter(([name]) => names.includes(name));
}

async function start(results: Results, scratchDir: string): Promise<Bench> {
  const upstream = await startUpstream();
  const bench: Bench = { plan: results.plan, upstream, peers: [], tollgate: null, database: null };
  for (const peer of PEERS) {
    const reason = peer.missing();
    if (reason !== null) results.skipped.push({ name: peer.name, reason });
    else
      await peer.start(upstream, scratchDir).then(
        (running) => bench.peers.push(running),
        (error: unknown) => results.skipped.push({ name: peer.name, reason: String(error) }),
      );
  }
  if (asked["controls-only"]) return bench;
  bench.tollgate = await startTollgate(upstream, scratchDir);
  bench.peers.push(bench.tollgate);
  await startPostgres(bench, results, scratchDir);
  return bench;
}

async function startPostgres(bench: Bench, results: Results, scratchDir: string): Promise<void> {
  try {
    bench.database = await startDatabase();
    const { url: databaseUrl } = bench.database;
    bench.peers.push(
      await startTollgate(bench.upstream, scratchDir, { name: TOLLGATE_POSTGRES, databaseUrl }),
    );
  } catch (error) {
    results.skipped.push({ name: TOLLGATE_POSTGRES, reason: String(error) });
  }
}

/** A figure that cannot be taken is reported as such; it never stops the others. */
async function measureAll(bench: Bench, results: Results, measures: typeof MEASURES): Promise<void> {
  for (const [name, measure] of measures) {
    const sinceMs = performance.now();
    try {
      results.figures.push(...(await measure(bench)));
    } catch (error) {
      results.skipped.push({ name, reason: error instanceof Error ? error.message : String(error) });
    }
    results.loads.push({ after: name, loadAverage: loadavg()[0] ?? 0 });
    console.error(`${name}: ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`);
  }
}

function keep(results: Results): string {
  const dir = join(root, "bench/results");
  mkdirSync(dir, { recursive: true });
  const name =
    results.plan.name === "quick" ? `${results.date.slice(0, 10)}-quick` : results.date.slice(0, 10);
  writeFileSync(join(dir, `${name}.json`), `${JSON.stringify(results, null, 1)}\n`);
  const caption = `Tollgate bench ${name}: medians of ${results.plan.rounds} interleaved rounds, ${results.machine["cpu"]}, ${results.machine["cores"]} cores`;
  writeFileSync(join(dir, `${name}.svg`), `${chart(results.figures, caption)}\n`);
  return `bench/results/${name}.json`;
}

async function main(): Promise<number> {
  const plan = asked.quick ? QUICK : FULL;
  const measures = wantedMeasures();
  const results: Results = {
    date: new Date().toISOString(),
    plan,
    command: ["npm run bench --", ...process.argv.slice(2)].join(" "),
    machine: describeMachine(),
    loads: [],
    skipped: [],
    figures: [],
  };
  const scratchDir = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  pinGenerator();
  let bench: Bench | null = null;
  try {
    bench = await start(results, scratchDir);
    await measureAll(bench, results, measures);
  } finally {
    await stopAll();
    await bench?.database?.stop();
    rmSync(scratchDir, { recursive: true, force: true });
  }
  console.log(printTable(results.figures));
  for (const { name, reason } of results.skipped) console.log(`\nnot measured: ${name} (${reason})`);
  const whole = measures === MEASURES && !asked["controls-only"];
  if (whole) console.log(`\nkept in ${keep(results)}`);
  return results.skipped.some(({ name }) => !OPTIONAL.has(name)) ? 1 : 0;
}

process.exit(await main());
