// Watches a running gateway: our own errors and outages are logged, requests counted and traced. None of it
// delays a response.
import type { Config } from "../config/config.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { NoteResolved } from "../gateway/hold.ts";
import { EventStreams } from "../http/sse.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { openMetrics } from "./metrics.ts";
import { tellOutages, tellShortages } from "./outages.ts";
import type { Releases } from "./releases.ts";
import type { OpenedStore } from "./store.ts";
import { openTracing } from "./tracing.ts";

interface Watched {
  clock: Clock;
  log: Log;
  jobs: Jobs;
  releases: Releases;
  store: Pick<OpenedStore, "ledger" | "sql">;
}

export interface Watching {
  /** An unreachable store is not a bug: one log line covers all of its failures. */
  failed(this: void, error: unknown, requestId?: string): void;
  streams: EventStreams;
  metrics: Metrics;
  /** Null if requests are not traced. */
  tracing: Tracing | null;
  resolved: NoteResolved;
  stop(): Promise<void>;
}

/** Opened before the doors and closed after them, so that every end is reported. */
export function openWatching(config: Config, { clock, log, jobs, releases, store }: Watched): Watching {
  const { ledger, sql } = store;
  const failed: Watching["failed"] = (error, id) => {
    if (!isOverloaded(error)) log.error({ id, err: error }, "a request failed inside the gateway");
  };
  const outages = tellOutages({ ledger, clock: systemClock, log, jobs });
  const shortages = tellShortages({ clock: systemClock, log, jobs });
  const streams = new EventStreams(clock, { failed, jobs });
  const openStreams = (): number => streams.size;
  const figures = openMetrics(config, { sql, ledger, releases, clock, jobs, openStreams });
  const { metrics } = figures;
  const tracing = openTracing(config, { clock, log, jobs, metrics });
  return {
    failed,
    streams,
    metrics,
    tracing: tracing?.room ?? null,
    resolved: (hold, ending) => {
      try {
        figures.resolved(hold, ending);
        tracing?.room.resolved(hold, ending);
      } catch (error) {
        failed(error, hold.admitted.requestId);
      }
    },
    stop: async () => {
      await outages.stop();
      await shortages.stop();
      await tracing?.stop();
      await figures.stop();
    },
  };
}
