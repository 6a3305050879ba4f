// The figures only the full run has time for: payload sizes, 1,000 slow streams at once, and a stream silent for 30 s.
import { costOf, microsPerEvent } from "../cost.ts";
import { GOALS, figure } from "../figure.ts";
import { closedLoop } from "../load.ts";
import { chatBody, chatRequest } from "../request.ts";
import { gateways } from "./bench.ts";
import { jsonFigures } from "./json-cost.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { Bench } from "./bench.ts";

export async function extended(bench: Bench): Promise<Figure[]> {
  if (!bench.plan.extended) return [];
  return [...(await payloads(bench)), ...(await thousandStreams(bench)), ...(await longSilence(bench))];
}

async function payloads(bench: Bench): Promise<Figure[]> {
  const { plan } = bench;
  const base = { concurrency: 64, durationMs: plan.jsonMs / 2, warmUpMs: 1_000 };
  const figures: Figure[] = [];
  for (const sizeKb of [4, 64, 400] as const) {
    const section = `JSON ${sizeKb} → 1 KB, 64 in flight`;
    figures.push(...(await jsonFigures(bench, section, { ...base, model: "bench-json-1k", sizeKb })));
  }
  const answers = { ...base, model: "bench-json-10k" as const, sizeKb: 0.3 as const };
  figures.push(...(await jsonFigures(bench, "JSON 0.3 → 10 KB, 64 in flight", answers)));
  return figures;
}

async function thousandStreams(bench: Bench): Promise<Figure[]> {
  const { tollgate } = bench;
  if (tollgate === null) return [];
  const load = { model: "bench-sse-slow", durationMs: 1, warmUpMs: 1 } as const;
  const few = microsPerEvent(
    await costOf(tollgate, { ...load, durationMs: 10_000, concurrency: 8, spreadMs: 2_000 }),
  );
  const before = tollgate.process.rssMb();
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, tollgate.process.rssMb())), 100);
  const many = await costOf(tollgate, { ...load, durationMs: 10_000, concurrency: 1_000, spreadMs: 2_000 });
  clearInterval(watch);
  const place = { section: "1,000 slow streams at once", peer: tollgate.name };
  const growthKb = ((highest - before) * 1024) / 1_000;
  return [
    figure({ ...place, name: "memory per stream", unit: "KB" }, [growthKb], GOALS.streamKb),
    figure({ ...place, name: "CPU per chunk", unit: "µs" }, [microsPerEvent(many)]),
    figure(
      { ...place, name: "to that of 8 streams", unit: "×" },
      [microsPerEvent(many) / few],
      GOALS.slowChunkRatio,
    ),
  ];
}

async function longSilence(bench: Bench): Promise<Figure[]> {
  const lost = async (peer: RunningPeer): Promise<Figure> => {
    const request = chatRequest(peer.target, chatBody("bench-sse-silence"));
    const load = await closedLoop({ origin: peer.target.origin, request, concurrency: 4, requests: 4 });
    const place = {
      section: "30 s of silence inside a stream",
      name: "streams lost of 4",
      peer: peer.name,
      unit: "",
    };
    return figure(place, [load.errors], GOALS.none);
  };
  return Promise.all(gateways(bench).map(lost));
}
