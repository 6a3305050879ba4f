// What the benchmark can measure, by name, in this order: idle memory comes before any load, restarts after all of
// it.
import { addedLatency } from "./figures/added-latency.ts";
import { agentRequests } from "./figures/agent-requests.ts";
import { budget } from "./figures/budget.ts";
import { clientGone } from "./figures/client-gone.ts";
import { conservation } from "./figures/conservation.ts";
import { extended } from "./figures/extended.ts";
import { jsonCost } from "./figures/json-cost.ts";
import { ledgerAlone } from "./figures/ledger-alone.ts";
import { limits } from "./figures/limits.ts";
import { idleMemory, memory } from "./figures/memory.ts";
import { objects } from "./figures/objects.ts";
import { parts } from "./figures/parts.ts";
import { refusalCost } from "./figures/refusal-cost.ts";
import { replicas } from "./figures/replicas.ts";
import { slowStreams } from "./figures/slow-streams.ts";
import { stalledClient } from "./figures/stalled-client.ts";
import { stages } from "./figures/stages.ts";
import { startToReady } from "./figures/start-to-ready.ts";
import { streamCost } from "./figures/stream-cost.ts";
import { surfaces } from "./figures/surfaces.ts";
import { warmUp } from "./figures/warm-up.ts";
import type { Measure } from "./figures/bench.ts";

export interface NamedMeasure {
  name: string;
  measure: Measure;
  /** Measured only if `--only` names it. */
  apart?: true;
}

export const MEASURES: readonly NamedMeasure[] = [
  { name: "idle memory", measure: idleMemory },
  { name: "warm-up", measure: warmUp },
  { name: "JSON cost", measure: jsonCost },
  { name: "ledger alone", measure: ledgerAlone },
  { name: "stream cost", measure: streamCost },
  { name: "added latency", measure: addedLatency },
  { name: "refusals", measure: refusalCost },
  { name: "memory", measure: memory },
  { name: "client gone", measure: clientGone },
  { name: "stalled client", measure: stalledClient },
  { name: "conservation", measure: conservation },
  { name: "budget", measure: budget, apart: true },
  { name: "replicas", measure: replicas },
  { name: "slow streams", measure: slowStreams },
  { name: "extended", measure: extended },
  { name: "start to ready", measure: startToReady },
  { name: "limits", measure: limits, apart: true },
  { name: "parts", measure: parts, apart: true },
  { name: "stages", measure: stages, apart: true },
  { name: "objects", measure: objects, apart: true },
  { name: "surfaces", measure: surfaces, apart: true },
  { name: "agent requests", measure: agentRequests, apart: true },
];
