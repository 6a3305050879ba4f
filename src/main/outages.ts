// Logs once that the store is unreachable and once that it is back: refused requests get no other lines, so
// that an outage does not bury its cause.
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Repeating } from "../lib/every.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";

const LOOK_EVERY_MS = 250;
/**
 * How long the store must stay reachable to count as back: the first commits after an outage may still fail.
 */
const STEADY_MS = 1_000;

export interface OutagesPorts {
  ledger: Pick<Ledger, "ready" | "trouble">;
  clock: Clock;
  log: Log;
  jobs: Jobs;
}

/** Watches the store until it is stopped. */
export function tellOutages({ ledger, clock, log, jobs }: OutagesPorts): Repeating {
  let sinceMs: number | null = null;
  let backAtMs: number | null = null;
  const look = async (): Promise<void> => {
    const nowMs = clock.monotonicMs();
    if (!ledger.ready()) {
      if (sinceMs === null)
        log.error(
          { cause: ledger.trouble() },
          "the store is unavailable: until it is back, requests get 503 and settlements wait",
        );
      sinceMs ??= nowMs;
      backAtMs = null;
      return;
    }
    if (sinceMs === null) return;
    backAtMs ??= nowMs;
    if (nowMs - backAtMs < STEADY_MS) return;
    log.info({ away_ms: Math.round(backAtMs - sinceMs) }, "the store is available again");
    sinceMs = null;
  };
  return jobs.every("outages", LOOK_EVERY_MS, look);
}
