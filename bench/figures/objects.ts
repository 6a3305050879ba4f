// What one request leaves to the collector: objects by type, counted in a gateway that collects nothing. The same on every
// machine and beside any load, so a change of a few objects shows where a change of a few microseconds drowns.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { figure } from "../figure.ts";
import { closedLoop } from "../load.ts";
import { NULL_LEDGER, TOLLGATE } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { startTollgate, type TollgatePeer } from "../tollgate-peer.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

/** Until every function is compiled: what the interpreter and the baseline make, the optimizer often does not. */
const WARM_UP = 6_000;
const COUNTED = 2_000;
const CONCURRENCY = 64;
/** Types with less than this per request are noise of timers and sockets. */
const LEAST = 0.5;
const WRITTEN_WITHIN_MS = 10_000;

type Counts = Record<string, number>;

export async function objects(bench: Bench): Promise<Figure[]> {
  const shell = { name: NULL_LEDGER, server: "bench/null-ledger.ts" };
  const figures: Figure[] = [];
  for (const peer of [{ name: TOLLGATE }, shell])
    for (const [type, count] of await perRequest(bench, peer))
      figures.push(
        figure({ section: "Objects per JSON request", name: type, peer: peer.name, unit: "" }, [count]),
      );
  return figures;
}

async function perRequest(
  { upstream, scratchDir, checkout }: Bench,
  on: { name: string; server?: string },
): Promise<[type: string, count: number][]> {
  const file = join(scratchDir, `objects-${on.name}.json`);
  const tollgate = await startTollgate(upstream, join(scratchDir, "objects"), {
    ...on,
    checkout,
    bunFlags: ["--preload", join(import.meta.dir, "../object-counts.ts")],
    environment: { OBJECT_COUNTS: file, BUN_JSC_useGC: "0" },
  });
  try {
    await load(tollgate, WARM_UP);
    const before = await countedBy(tollgate, file);
    await load(tollgate, COUNTED);
    const after = await countedBy(tollgate, file);
    const grown = Object.entries(after).map(([type, count]): [string, number] => [
      type,
      (count - (before[type] ?? 0)) / COUNTED,
    ]);
    const all = grown.reduce((sum, [, count]) => sum + count, 0);
    return [
      ["all of them", all],
      ...grown.filter(([, count]) => count >= LEAST).toSorted(([, a], [, b]) => b - a),
    ];
  } finally {
    await tollgate.process.stop();
  }
}

async function load({ target }: TollgatePeer, requests: number): Promise<void> {
  const request = chatRequest(target, chatBody("bench-json-1k"));
  const { errors } = await closedLoop({ origin: target.origin, request, concurrency: CONCURRENCY, requests });
  if (errors > 0) throw new Error(`${errors} of ${requests} replies failed`);
}

async function countedBy({ process: { pid } }: TollgatePeer, file: string): Promise<Counts> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  for (const untilMs = performance.now() + WRITTEN_WITHIN_MS; !existsSync(file); await Bun.sleep(20))
    if (performance.now() > untilMs) throw new Error("the gateway wrote no counts");
  return JSON.parse(readFileSync(file, "utf8")) as Counts;
}
