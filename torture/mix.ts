// How much of everything a plan contains. A full run mixes everything; a run against a mutant concentrates on what
// its bug breaks.
import type { Chaos, StandIn, SurfaceName, Traffic } from "./plan.ts";

export interface Mix {
  /** Mean milliseconds between two steps of traffic. */
  gapMs: number;
  traffic: Record<
    Exclude<Traffic["do"], "repeat" | "misuse" | "open_key"> | "repeat" | "misuse" | "burst" | "expire",
    number
  >;
  customers: Record<StandIn, number>;
  /** Share of requests with a caller's key, of streams, and of clients that leave early. */
  keyed: number;
  streams: number;
  leaving: number;
  /** Mean milliseconds between two acts of a hostile tenant; null = none. */
  hostileGapMs: number | null;
  /** Mean milliseconds between two record corruptions; null = none. */
  rotGapMs: number | null;
  /** Mean milliseconds between two strokes of chaos; null = none. */
  chaosGapMs: number | null;
  chaos: Record<Exclude<Chaos["do"], "promote_standby" | "rot_record">, number>;
  /** Share of store locks that last longer than the store waits. */
  longLocks: number;
  /** Share of pauses, and of kills, after which a gateway stays away for longer than its lease. */
  longAbsences: number;
  /** The surfaces that its requests are sent on. */
  surfaces: Record<SurfaceName, number>;
  /** Only these models; all if absent. */
  models?: readonly string[];
}

export const EVERYTHING: Mix = {
  gapMs: 18,
  traffic: {
    send: 60,
    repeat: 22,
    misuse: 2,
    burst: 0.4,
    revoke: 0.6,
    limit: 0.6,
    pause_key: 0.4,
    expire: 0.4,
    top_up: 2,
    switch: 0.5,
    publish: 0.5,
    watch: 3,
    audit: 0.3,
  },
  customers: { rich: 7, poor: 1, limited: 2, research: 0.8, crowd: 0, flooder: 0 },
  keyed: 0.6,
  streams: 0.55,
  leaving: 0.12,
  surfaces: { chat: 50, messages: 18, responses: 18, completions: 8, embeddings: 6 },
  hostileGapMs: 6_000,
  rotGapMs: 12_000,
  chaosGapMs: 1_500,
  chaos: {
    kill: 5,
    restart: 1.5,
    crash_at: 3,
    pause: 2,
    pause_provider: 1,
    lock_store: 1,
    kill_database: 0,
    freeze_database: 0,
    cut_connection: 0,
  },
  longLocks: 0.2,
  longAbsences: 0,
};

/** Several gateways on one database. */
export const REPLICATED: Mix = {
  ...EVERYTHING,
  chaosGapMs: 1_200,
  chaos: {
    kill: 5,
    restart: 1.5,
    crash_at: 4,
    pause: 3,
    pause_provider: 0.7,
    lock_store: 0.8,
    kill_database: 1.2,
    freeze_database: 1,
    cut_connection: 1.5,
  },
  longAbsences: 0.3,
};
