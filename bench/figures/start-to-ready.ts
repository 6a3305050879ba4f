// From the start of `./tollgate serve` to its first ready answer, on the store that the whole bench has filled. Runs last.
import { GOALS, figure } from "../figure.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

export async function startToReady(bench: Bench): Promise<Figure[]> {
  const { plan, tollgate } = bench;
  if (tollgate === null) return [];
  const waits: number[] = [];
  for (let start = 0; start < plan.starts; start += 1) {
    await tollgate.restart();
    waits.push(tollgate.startedMs);
  }
  const place = { section: "Start", name: "start to ready, existing store", peer: tollgate.name, unit: "ms" };
  return [figure(place, waits, GOALS.readyMs)];
}
