// Resident memory: after the start, over 100,000 requests in ten parts, and what the second half adds to the first.
import { GOALS, figure } from "../figure.ts";
import { closedLoop } from "../load.ts";
import { LEAN_GATEWAYS, TOLLGATE } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { percentile } from "../stats.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { Bench } from "./bench.ts";

const PARTS = 10;

/** By then deferred work of the start is done. */
const SETTLED_MS = 2_000;

/**
 * Memory before any load; must run first. The gateway's is that of a start on a prepared store: the process that was
 * set up through its operator API has loaded more code, and is reported separately.
 */
export async function idleMemory(bench: Bench): Promise<Figure[]> {
  const { tollgate } = bench;
  const setUp = tollgate?.process.rssMb();
  await tollgate?.restart();
  await Bun.sleep(SETTLED_MS);
  const apart = { section: "Memory", name: "resident, idle, once set up by it", peer: TOLLGATE, unit: "MB" };
  return [...(setUp === undefined ? [] : [figure(apart, [setUp])]), ...idle(bench)];
}

function idle(bench: Bench): Figure[] {
  return bench.peers.flatMap((peer) =>
    peer.process === null
      ? []
      : [
          figure({ section: "Memory", name: "resident, idle", peer: peer.name, unit: "MB" }, [
            peer.process.rssMb(),
          ]),
        ],
  );
}

/** Memory of the gateway, and of a floor that takes part. */
export async function memory(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const peer of bench.peers)
    if (peer.name === TOLLGATE || LEAN_GATEWAYS.includes(peer.name))
      figures.push(...(await underLoad(peer, bench.plan.memoryRequests)));
  return figures;
}

async function underLoad({ name: peer, target, process }: RunningPeer, requests: number): Promise<Figure[]> {
  if (process === null) return [];
  const request = chatRequest(target, chatBody("bench-json-1k"));
  const resident: number[] = [];
  for (let part = 0; part < PARTS; part += 1) {
    const load = await closedLoop({
      origin: target.origin,
      request,
      concurrency: 64,
      requests: requests / PARTS,
    });
    if (load.errors > 0) throw new Error(`memory: ${load.errors} replies failed`);
    resident.push(process.rssMb());
  }
  const half = (values: number[]): number => percentile(values, 0.5) ?? Number.NaN;
  const growth = half(resident.slice(PARTS / 2)) - half(resident.slice(0, PARTS / 2));
  const place = { section: "Memory", peer, unit: "MB" };
  const count = requests.toLocaleString("en-US");
  const goals = peer === TOLLGATE ? GOALS : null;
  return [
    figure({ ...place, name: `resident over ${count} requests` }, resident, goals?.residentMb),
    figure({ ...place, name: "second half over first half" }, [growth], goals?.flatMb),
  ];
}
