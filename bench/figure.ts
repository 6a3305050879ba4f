// One measured figure with its samples, and the targets of performance.md §2 that it must meet.
import { spread } from "./stats.ts";
import type { Spread } from "./stats.ts";

export interface Goal {
  /** As stated in the design. */
  text: string;
  met(value: number): boolean;
}

export interface Figure {
  section: string;
  name: string;
  peer: string;
  unit: string;
  spread: Spread;
  goal: string | null;
  met: boolean | null;
}

const atMost = (limit: number, unit: string): Goal => ({
  text: `≤ ${limit} ${unit}`.trim(),
  met: (value) => value <= limit,
});

export const GOALS = {
  jsonRatio: atMost(2.2, "× bare"),
  jsonAim: atMost(1.8, "× bare"),
  portkeyShare: { text: "≤ 1/10 of Portkey", met: (value: number) => value <= 1 / 10 },
  postgresJsonRatio: atMost(2, "× bare"),
  shellRatio: atMost(1.6, "× bare"),
  ledgerMicros: atMost(25, "µs"),
  ledgerMicrosFew: atMost(60, "µs"),
  limitMicros: atMost(3, "µs"),
  databaseMicros: atMost(90, "µs"),
  hotPairs: { text: "≥ 5000 per s", met: (value: number) => value >= 5000 },
  replicaCost: atMost(1.15, "× of one"),
  chunkRatio: atMost(1.4, "× bare"),
  surfaceRatio: atMost(1.1, "× chat"),
  addedP50: atMost(1, "ms"),
  addedP99: atMost(3, "ms"),
  addedFirstByte: atMost(1, "ms"),
  residentMb: atMost(90, "MB"),
  flatMb: atMost(5, "MB"),
  stalledMb: atMost(20, "MB"),
  leavingMs: atMost(20, "ms"),
  refusalShare: { text: "≤ 1/3 of served", met: (value: number) => value <= 1 / 3 },
  streamKb: atMost(40, "KB"),
  slowChunkRatio: atMost(1.15, "× (flat)"),
  readyMs: atMost(300, "ms"),
  none: { text: "0", met: (value: number) => value === 0 },
} satisfies Record<string, Goal>;

/** Makes a figure from its samples; the goal applies to the median. Throws if there are no samples. */
export function figure(
  place: { section: string; name: string; peer: string; unit: string },
  samples: number[],
  goal: Goal | null = null,
): Figure {
  const measured = spread(samples);
  if (measured === null) throw new Error(`${place.section}, ${place.name}: no sample`);
  return {
    ...place,
    spread: measured,
    goal: goal?.text ?? null,
    met: goal === null ? null : goal.met(measured.median),
  };
}
