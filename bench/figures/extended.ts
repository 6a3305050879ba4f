// The figures only the full run has time for: payload sizes, and a stream silent for 30 s.
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
  return [...(await payloads(bench)), ...(await longSilence(bench))];
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
