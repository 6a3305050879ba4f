// CPU microseconds per streamed event: 32 streams in flight, spread in time, of 50 chunks at 5 ms (the headline) and
// of 500 chunks at 2 ms (full run only); and the ratio to the bare proxy.
import { costOf, microsPerEvent } from "../cost.ts";
import { GOALS, figure } from "../figure.ts";
import { BARE_PROXY, TOLLGATE } from "../peer.ts";
import { PORTKEY } from "../portkey/peer.ts";
import { interleave, ratios, valuesOf } from "../rounds.ts";
import { gateways } from "./bench.ts";
import type { Figure } from "../figure.ts";
import type { ScriptName } from "../scripts.ts";
import type { Bench } from "./bench.ts";

export async function streamCost(bench: Bench): Promise<Figure[]> {
  const headline = { model: "bench-sse-50x5", spreadMs: 250 } as const;
  const figures = await streamFigures(bench, "SSE 50 × 5 ms, 32 streams", headline);
  if (!bench.plan.extended) return figures;
  return [
    ...figures,
    ...(await streamFigures(bench, "SSE 500 × 2 ms, 32 streams", {
      model: "bench-sse-500x2",
      spreadMs: 400,
    })),
  ];
}

async function streamFigures(
  bench: Bench,
  section: string,
  stream: { model: ScriptName; spreadMs: number },
): Promise<Figure[]> {
  const { plan } = bench;
  const peers = gateways(bench);
  const load = { ...stream, concurrency: 32, durationMs: plan.streamMs, warmUpMs: plan.warmUpMs };
  const samples = await interleave(peers, plan.rounds, (peer) => costOf(peer, load));
  const bare = valuesOf(samples, BARE_PROXY, microsPerEvent);
  const rival = valuesOf(samples, PORTKEY, microsPerEvent);
  return peers.flatMap(({ name: peer }) => {
    const values = valuesOf(samples, peer, microsPerEvent);
    const goal = peer === TOLLGATE ? GOALS.chunkRatio : null;
    return [
      figure({ section, name: "CPU per chunk", peer, unit: "µs" }, values),
      figure({ section, name: "ratio to bare proxy", peer, unit: "×" }, ratios(values, bare), goal),
      ...(peer === TOLLGATE && rival.length > 0
        ? [figure({ section, name: "share of Portkey", peer, unit: "×" }, ratios(values, rival))]
        : []),
    ];
  });
}
