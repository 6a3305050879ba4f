// 1,000 slow streams at once: memory per stream, and whether a chunk costs more than with eight streams. Measured for
// the gateway and for floors that take part, in the full run only.
import { costOf, microsPerEvent } from "../cost.ts";
import { GOALS, figure } from "../figure.ts";
import { LEAN_GATEWAYS, LEAN_SHELL, TOLLGATE } from "../peer.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { Bench } from "./bench.ts";

const MEASURED: readonly string[] = [TOLLGATE, LEAN_SHELL, ...LEAN_GATEWAYS];
const LOAD = { model: "bench-sse-slow", durationMs: 10_000, warmUpMs: 1, spreadMs: 2_000 } as const;
const LOOKED_AT_EVERY_MS = 100;
const STREAMS = 1_000;

export async function slowStreams(bench: Bench): Promise<Figure[]> {
  if (!bench.plan.extended) return [];
  const figures: Figure[] = [];
  for (const peer of bench.peers) if (MEASURED.includes(peer.name)) figures.push(...(await of(peer)));
  return figures;
}

async function of(peer: RunningPeer): Promise<Figure[]> {
  const { process } = peer;
  if (process === null) return [];
  const few = microsPerEvent(await costOf(peer, { ...LOAD, concurrency: 8 }));
  const before = process.rssMb();
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, process.rssMb())), LOOKED_AT_EVERY_MS);
  const many = await costOf(peer, { ...LOAD, concurrency: STREAMS }).finally(() => clearInterval(watch));
  const place = { section: "1,000 slow streams at once", peer: peer.name };
  const goals = peer.name === TOLLGATE ? GOALS : null;
  const growthKb = ((highest - before) * 1024) / STREAMS;
  return [
    figure({ ...place, name: "memory per stream", unit: "KB" }, [growthKb], goals?.streamKb),
    figure({ ...place, name: "CPU per chunk", unit: "µs" }, [microsPerEvent(many)]),
    figure(
      { ...place, name: "to that of 8 streams", unit: "×" },
      [microsPerEvent(many) / few],
      goals?.slowChunkRatio,
    ),
  ];
}
