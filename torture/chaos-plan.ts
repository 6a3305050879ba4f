// Draws what is done to the processes of a run, stroke by stroke.
import type { Mix } from "./mix.ts";
import type { Chaos } from "./plan.ts";
import type { Random } from "./random.ts";

/** The names of money.md §3; a point that a store does not have is never hit. */
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
/** Statements that a gateway sends before and at the end of a transaction, and for its lease. */
const STATEMENTS = ["BEGIN", "COMMIT", "COMMIT", "COMMIT", "SET lease_until"] as const;
/** A lease of ten seconds, and a grace period of five more. */
const LEASE_LOST_AFTER_MS = 15_000;

export function stroke(fate: Random, mix: Mix, gateways: number): Chaos {
  const gateway = fate.between(0, gateways - 1);
  const kind = fate.weighted(mix.chaos);
  switch (kind) {
    case "kill":
      if (staysAway(fate, mix)) return { do: kind, gateway, downMs: longAbsence(fate) };
      return { do: kind, gateway, downMs: fate.chance(0.7) ? 0 : fate.between(50, 500) };
    case "restart":
      return { do: kind, gateway };
    case "crash_at":
      return { do: kind, gateway, hook: fate.pick(CRASH_POINTS), n: fate.between(1, 20) };
    case "pause":
      return { do: kind, gateway, ms: staysAway(fate, mix) ? longAbsence(fate) : fate.between(100, 900) };
    case "pause_provider":
      return { do: kind, ms: fate.between(100, 900) };
    case "lock_store":
      return {
        do: kind,
        ms: fate.chance(mix.longLocks) ? fate.between(5_200, 6_000) : fate.between(50, 800),
      };
    case "kill_database":
      return { do: kind, downMs: fate.chance(0.6) ? 0 : fate.between(200, 3_000) };
    case "cut_connection":
      return { do: kind, word: fate.pick(STATEMENTS), when: fate.chance(0.7) ? "after" : "before" };
    case "freeze_database":
      return { do: kind, ms: fate.chance(0.6) ? fate.between(200, 2_000) : fate.between(3_000, 8_000) };
  }
}

const staysAway = (fate: Random, { longAbsences }: Mix): boolean =>
  longAbsences > 0 && fate.chance(longAbsences);

/** Two in three are long enough for the others to evict the gateway. */
const longAbsence = (fate: Random): number =>
  fate.chance(0.35)
    ? fate.between(LEASE_LOST_AFTER_MS - 5_000, LEASE_LOST_AFTER_MS)
    : fate.between(LEASE_LOST_AFTER_MS + 1_000, LEASE_LOST_AFTER_MS + 6_000);
