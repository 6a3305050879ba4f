// What is done to the processes of a run, drawn stroke by stroke.
import type { Mix } from "./mix.ts";
import type { Chaos } from "./plan.ts";
import type { Random } from "./random.ts";

/** The names of money.md §3 that exist on the SQLite store. */
const CRASH_POINTS = [
  "before_commit1",
  "after_commit1",
  "after_request_bytes",
  "after_provider_refusal",
  "after_first_part",
  "mid_stream",
  "before_commit2",
  "after_commit2",
  "after_last_byte",
  "in_sweep",
] as const;
export function stroke(fate: Random, mix: Mix, gateways: number): Chaos {
  const gateway = fate.between(0, gateways - 1);
  const kind = fate.weighted(mix.chaos);
  switch (kind) {
    case "kill":
      return { do: kind, gateway, downMs: fate.chance(0.7) ? 0 : fate.between(50, 500) };
    case "restart":
      return { do: kind, gateway };
    case "crash_at":
      return { do: kind, gateway, hook: fate.pick(CRASH_POINTS), n: fate.between(1, 20) };
    case "pause":
      return { do: kind, gateway, ms: fate.between(100, 900) };
    case "pause_provider":
      return { do: kind, ms: fate.between(100, 900) };
    case "lock_store":
      return {
        do: kind,
        ms: fate.chance(mix.longLocks) ? fate.between(5_200, 6_000) : fate.between(50, 800),
      };
  }
}
