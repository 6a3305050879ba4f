// The tracing room, if configured: its exporter, its metrics, and log lines when a collector fails, is back,
// or when spans are dropped.
import type { Config } from "../config/config.ts";
import { VERSION } from "../domain/program.ts";
import { providerNames } from "../domain/telemetry-names.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { SpanExporter } from "../tracing/exporter.ts";
import { Tracing } from "../tracing/tracing.ts";

export interface OpenTracing {
  room: Tracing;
  /** Sends waiting spans, for a moment. */
  stop(): Promise<void>;
}

interface TracingOn {
  clock: Clock;
  log: Pick<Log, "info" | "warn">;
  jobs: Jobs;
  metrics: Pick<Metrics, "spansExported" | "spansDropped" | "watchSpans">;
}

/** Null if nothing is traced: then tracing costs a request nothing. */
export function openTracing(
  { tracing, providers }: Config,
  { clock, log, jobs, metrics }: TracingOn,
): OpenTracing | null {
  const passedOn = providers.some(({ traceparent }) => traceparent);
  if (tracing === null && !passedOn) return null;
  const exporter =
    tracing &&
    new SpanExporter({
      ...tracing,
      source: { resource: { "service.version": VERSION, ...tracing.resource }, version: VERSION },
      clock,
      jobs,
      exported: (spans) => metrics.spansExported(spans),
      dropped: (reason, spans) => metrics.spansDropped(reason, spans),
      turned: (trouble) =>
        trouble === null
          ? log.info("traces are exported again")
          : log.warn(
              { trouble, collector: new URL(tracing?.url ?? "").origin },
              "traces cannot be exported; requests are still served. Check the collector and tracing.endpoint",
            ),
      leftOut: (spans, reason) =>
        log.warn(
          { spans, reason },
          "the trace collector accepted a batch but rejected some of its spans; requests are still served",
        ),
    });
  if (exporter !== null) metrics.watchSpans(() => exporter.waiting);
  const room = new Tracing({
    sampling: tracing?.sampling ?? { sampler: "always_off", ratio: 0 },
    clock,
    exporter,
    passedOn,
    providerNames: providerNames(providers),
  });
  return { room, stop: async () => await exporter?.stop() };
}
