// Logs once that the store is unreachable and once that it is back: refused requests get no other lines, so
// that an outage does not bury its cause. The same for descriptors: clients whose connections wait leave no line at all.
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Repeating } from "../lib/every.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";
import { openFilesMax, wantNow } from "../lib/shortage.ts";

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

const COUNT_EVERY_MS = 1_000;

/** Watches the descriptors of this process until it is stopped. */
export function tellShortages({ clock, log, jobs }: Omit<OutagesPorts, "ledger">): Repeating {
  const open_files = openFilesMax(); // later there may be no descriptor to read it with
  let sinceMs: number | null = null;
  const look = async (): Promise<void> => {
    const cause = wantNow();
    const nowMs = clock.monotonicMs();
    if (cause !== null && sinceMs === null) {
      sinceMs = nowMs;
      log.error(
        { cause, open_files },
        "new connections wait unanswered until others close: raise the limit of open files (ulimit -n, LimitNOFILE), and bound the connections of one address in front of the gateway",
      );
    }
    if (cause !== null || sinceMs === null) return;
    log.info({ lasted_ms: Math.round(nowMs - sinceMs) }, "new connections are accepted again");
    sinceMs = null;
  };
  return jobs.every("descriptors", COUNT_EVERY_MS, look);
}
