// What the benchmark can measure, by name, in this order: idle memory before any load, restarts after all of it.
import { addedLatency } from "./figures/added-latency.ts";
import { clientGone } from "./figures/client-gone.ts";
import { conservation } from "./figures/conservation.ts";
import { extended } from "./figures/extended.ts";
import { jsonCost } from "./figures/json-cost.ts";
import { idleMemory, memory } from "./figures/memory.ts";
import { refusalCost } from "./figures/refusal-cost.ts";
import { replicas } from "./figures/replicas.ts";
import { stalledClient } from "./figures/stalled-client.ts";
import { startToReady } from "./figures/start-to-ready.ts";
import { streamCost } from "./figures/stream-cost.ts";
import { warmUp } from "./figures/warm-up.ts";
import type { Measure } from "./figures/bench.ts";

export interface NamedMeasure {
  name: string;
  measure: Measure;
}

export const WARM_UP: NamedMeasure = { name: "warm-up", measure: warmUp };

export const MEASURES: readonly NamedMeasure[] = [
  { name: "idle memory", measure: idleMemory },
  WARM_UP,
  { name: "JSON cost", measure: jsonCost },
  { name: "stream cost", measure: streamCost },
  { name: "added latency", measure: addedLatency },
  { name: "refusals", measure: refusalCost },
  { name: "memory", measure: memory },
  { name: "client gone", measure: clientGone },
  { name: "stalled client", measure: stalledClient },
  { name: "conservation", measure: conservation },
  { name: "replicas", measure: replicas },
  { name: "extended", measure: extended },
  { name: "start to ready", measure: startToReady },
];
