// What one request leaves to the garbage collector: objects by type, counted in a gateway with the collector off. The
// counts are the same on every machine and under any load, so they show a change of a few objects where a change of a
// few microseconds is lost in noise.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { figure } from "../figure.ts";
import { closedLoop } from "../load.ts";
import { BARE_PROXY, LEAN_SHELL, NULL_LEDGER, TOLLGATE, type RunningPeer } from "../peer.ts";
import { ownProxy } from "../peers.ts";
import { chatBody, chatRequest } from "../request.ts";
import { startTollgate } from "../tollgate-peer.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

/**
 * Until every function is compiled: the optimizer often avoids objects that the interpreter and the baseline compiler
 * allocate.
 */
const WARM_UP = 6_000;
const COUNTED = 2_000;
const CONCURRENCY = 64;
/** Types with fewer objects per request are noise from timers and sockets. */
const LEAST = 0.5;
const WRITTEN_WITHIN_MS = 10_000;

const COUNTER = join(import.meta.dir, "../object-counts.ts");
/** The counts of a proxy that does nothing, and of one that does only what a shell must do. */
const FLOORS = [
  [LEAN_SHELL, "lean-shell.ts"],
  [BARE_PROXY, "bare-proxy.ts"],
] as const;

type Counts = Record<string, number>;

export async function objects({ upstream, scratchDir, checkout }: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  const count = async (
    name: string,
    start: (environment: Record<string, string>) => Promise<RunningPeer>,
  ): Promise<void> => {
    const file = join(scratchDir, `objects-${name}.json`);
    const counted = await perRequest(await start({ OBJECT_COUNTS: file, BUN_JSC_useGC: "0" }), file);
    for (const [type, each] of counted)
      figures.push(figure({ section: "Objects per JSON request", name: type, peer: name, unit: "" }, [each]));
  };
  const place = join(scratchDir, "objects");
  const bunFlags = ["--preload", COUNTER];
  await count(TOLLGATE, (environment) => startTollgate(upstream, place, { checkout, bunFlags, environment }));
  const shell = { name: NULL_LEDGER, server: "bench/null-ledger.ts", checkout, bunFlags };
  await count(NULL_LEDGER, (environment) => startTollgate(upstream, place, { ...shell, environment }));
  for (const [name, program] of FLOORS)
    await count(name, (environment) =>
      ownProxy(name, program, { BUN_OPTIONS: `--preload ${COUNTER}`, ...environment }).start(
        upstream,
        scratchDir,
      ),
    );
  return figures;
}

async function perRequest(peer: RunningPeer, file: string): Promise<[type: string, count: number][]> {
  try {
    await load(peer, WARM_UP);
    const before = await countedBy(peer, file);
    await load(peer, COUNTED);
    const after = await countedBy(peer, file);
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
    await peer.process?.stop();
  }
}

async function load({ target }: RunningPeer, requests: number): Promise<void> {
  const request = chatRequest(target, chatBody("bench-json-1k"));
  const { errors } = await closedLoop({ origin: target.origin, request, concurrency: CONCURRENCY, requests });
  if (errors > 0) throw new Error(`${errors} of ${requests} replies failed`);
}

async function countedBy({ process: counted }: RunningPeer, file: string): Promise<Counts> {
  rmSync(file, { force: true });
  if (counted === null) throw new Error("it has no process");
  process.kill(counted.pid, "SIGUSR2");
  for (const untilMs = performance.now() + WRITTEN_WITHIN_MS; !existsSync(file); await Bun.sleep(20))
    if (performance.now() > untilMs) throw new Error("the gateway wrote no counts");
  return JSON.parse(readFileSync(file, "utf8")) as Counts;
}
