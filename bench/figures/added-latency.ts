// What a peer adds to the latency of a single caller, at a fixed open-loop rate: p50 and p99 over direct for JSON,
// and the time to the first event over direct for streams. Each latency counts from the scheduled start.
import { GOALS, figure } from "../figure.ts";
import { openLoop } from "../load.ts";
import { BARE_PROXY, DIRECT, TOLLGATE } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { differences, interleave, valuesOf } from "../rounds.ts";
import { percentile } from "../stats.ts";
import type { Figure, Goal } from "../figure.ts";
import type { LoadResult } from "../load.ts";
import type { ScriptName } from "../scripts.ts";
import type { Samples } from "../rounds.ts";
import type { Bench } from "./bench.ts";

const JSON_PER_SECOND = 500;
const STREAMS_PER_SECOND = 40;

export async function addedLatency(bench: Bench): Promise<Figure[]> {
  const json = await openRounds(bench, "bench-json-1k", JSON_PER_SECOND);
  const streams = await openRounds(bench, "bench-sse-50x5", STREAMS_PER_SECOND);
  const jsonSection = `JSON at ${JSON_PER_SECOND} requests/s, open loop`;
  const streamSection = `SSE at ${STREAMS_PER_SECOND} streams/s, open loop`;
  const firstByte = (load: LoadResult): number => percentile(load.firstBytesMs, 0.5) ?? Number.NaN;
  const latency = (share: number) => (load: LoadResult) => percentile(load.latenciesMs, share) ?? Number.NaN;
  return [
    ...compared(json, { section: jsonSection, name: "latency p50" }, latency(0.5), GOALS.addedP50),
    ...compared(json, { section: jsonSection, name: "latency p99" }, latency(0.99), GOALS.addedP99),
    ...compared(
      streams,
      { section: streamSection, name: "first event p50" },
      firstByte,
      GOALS.addedFirstByte,
    ),
  ];
}

async function openRounds(
  bench: Bench,
  model: ScriptName,
  ratePerSecond: number,
): Promise<Samples<LoadResult>> {
  const { plan } = bench;
  const peers = bench.peers.filter(
    ({ name }) => plan.extended || name !== BARE_PROXY || bench.tollgate === null,
  );
  return interleave(peers, plan.rounds, async (peer) => {
    const { origin } = peer.target;
    const load = { origin, request: chatRequest(peer.target, chatBody(model)), ratePerSecond };
    await openLoop({ ...load, durationMs: plan.warmUpMs });
    const result = await openLoop({ ...load, durationMs: plan.openMs });
    if (result.errors > 0) throw new Error(`${peer.name}, ${model}: ${result.errors} replies failed`);
    return result;
  });
}

function compared(
  samples: Samples<LoadResult>,
  place: { section: string; name: string },
  value: (load: LoadResult) => number,
  goal: Goal,
): Figure[] {
  const direct = valuesOf(samples, DIRECT, value);
  return [...samples.keys()].flatMap((peer) => {
    const values = valuesOf(samples, peer, value);
    const absolute = figure({ ...place, peer, unit: "ms" }, values);
    if (peer === DIRECT) return [absolute];
    const added = { ...place, name: `${place.name}, added`, peer, unit: "ms" };
    return [absolute, figure(added, differences(values, direct), peer === TOLLGATE ? goal : null)];
  });
}
