// The benchmark (`npm run bench [-- --quick] [--only "memory,stalled client"]`): starts the upstream and every peer,
// takes the figures of performance.md §4 in interleaved rounds, and prints them beside their targets. If all figures
// were taken, it stores the raw numbers and a chart in bench/results/. With `--compare REVISION` it measures two
// trees in the same rounds.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../src/domain/error-message.ts";
import { startPeers, startTollgates, type Ground } from "./bring-up.ts";
import { chart } from "./chart.ts";
import { compare, printComparison } from "./compare.ts";
import { readOptions } from "./options.ts";
import { LITELLM } from "./litellm/peer.ts";
import { PORTKEY } from "./portkey/peer.ts";
import { root, startUpstream } from "./peers.ts";
import { pinGenerator, stopAll } from "./processes.ts";
import { describeMachine, printTable } from "./report.ts";
import { printRivals, RIVALS_PAGE } from "./rivals.ts";
import type { Bench } from "./figures/bench.ts";
import type { NamedMeasure } from "./measures.ts";
import type { Results } from "./report.ts";

/** Peers that a machine may lack; everything else must be measured. */
const OPTIONAL: ReadonlySet<string> = new Set(["nginx", PORTKEY, LITELLM]);

const asked = readOptions();
const scratchDir = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
const atEnd: Ground["atEnd"] = [];

/** Leaves no process and no file behind, however the run ends. */
async function cleanUp(): Promise<void> {
  await stopAll();
  await Promise.all(atEnd.splice(0).map((end) => end()));
  rmSync(scratchDir, { recursive: true, force: true });
}

/** A figure that cannot be taken is reported and does not stop the others. */
async function measureAll(bench: Bench, results: Results, measures: readonly NamedMeasure[]): Promise<void> {
  for (const { name, measure } of measures) {
    const sinceMs = performance.now();
    try {
      results.figures.push(...(await measure(bench)));
    } catch (error) {
      results.skipped.push({ name, reason: messageOf(error) });
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

async function measured(ground: Ground, results: Results): Promise<void> {
  const bench = await startTollgates(ground, await startPeers(ground));
  await measureAll(bench, results, asked.measures);
  console.log(printTable(results.figures));
  if (asked.rivals) writeFileSync(join(root, RIVALS_PAGE), printRivals(results));
  if (asked.whole) console.log(`\nkept in ${keep(results)}`);
}

async function main(): Promise<number> {
  const results: Results = {
    date: new Date().toISOString(),
    plan: asked.plan,
    command: ["npm run bench --", ...process.argv.slice(2)].join(" "),
    machine: describeMachine(),
    loads: [],
    skipped: [],
    figures: [],
  };
  const { skipped } = results;
  pinGenerator();
  try {
    const { plan, wants } = asked;
    const ground: Ground = { plan, wants, upstream: await startUpstream(), scratchDir, skipped, atEnd };
    if (asked.compare === null) await measured(ground, results);
    else console.log(printComparison(await compare(ground, asked.compare, asked.measures)));
  } finally {
    await cleanUp();
  }
  for (const { name, reason } of skipped) console.log(`\nnot measured: ${name} (${reason})`);
  return skipped.some(({ name }) => !OPTIONAL.has(name)) ? 1 : 0;
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => void cleanUp().finally(() => process.exit(1)));
process.exit(await main());
