// Loads every gateway before the first round, so that no peer is measured while its code is still being compiled.
import { costOf } from "../cost.ts";
import { gateways } from "./bench.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

export async function warmUp(bench: Bench): Promise<Figure[]> {
  const durationMs = bench.plan.firstWarmUpMs;
  for (const peer of gateways(bench)) {
    await costOf(peer, { model: "bench-json-1k", concurrency: 64, warmUpMs: 1, durationMs });
    await costOf(peer, { model: "bench-sse-50x5", concurrency: 32, warmUpMs: 1, durationMs: durationMs / 2 });
  }
  return [];
}
