// Resident memory: after the start, over 100,000 requests in ten parts, and what the second half adds to the first.
import { GOALS, figure } from "../figure.ts";
import { closedLoop } from "../load.ts";
import { chatBody, chatRequest } from "../request.ts";
import { percentile } from "../stats.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

const PARTS = 10;

/** Memory before any load; must run first. */
export async function idleMemory(bench: Bench): Promise<Figure[]> {
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

export async function memory(bench: Bench): Promise<Figure[]> {
  const { plan, tollgate } = bench;
  if (tollgate === null) return [];
  const { origin } = tollgate.target;
  const request = chatRequest(tollgate.target, chatBody("bench-json-1k"));
  const resident: number[] = [];
  for (let part = 0; part < PARTS; part += 1) {
    const load = await closedLoop({
      origin,
      request,
      concurrency: 64,
      requests: plan.memoryRequests / PARTS,
    });
    if (load.errors > 0) throw new Error(`memory: ${load.errors} replies failed`);
    resident.push(tollgate.process.rssMb());
  }
  const half = (values: number[]): number => percentile(values, 0.5) ?? Number.NaN;
  const growth = half(resident.slice(PARTS / 2)) - half(resident.slice(0, PARTS / 2));
  const place = { section: "Memory", peer: tollgate.name, unit: "MB" };
  const count = plan.memoryRequests.toLocaleString("en-US");
  return [
    figure({ ...place, name: `resident over ${count} requests` }, resident, GOALS.residentMb),
    figure({ ...place, name: "second half over first half" }, [growth], GOALS.flatMb),
  ];
}
