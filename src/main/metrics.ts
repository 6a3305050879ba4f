// The metrics of this process: counts made as requests end, and the current state at a scrape.
import type { Config } from "../config/config.ts";
import { ROUTE_STATES } from "../domain/release.ts";
import { operationOf, providerNames } from "../domain/telemetry-names.ts";
import type { Hold, NoteResolved } from "../gateway/hold.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { DOUBTS } from "../ledger/records.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { Metrics } from "../lib/metrics.ts";
import { RequestFigures, type RouteFigures } from "../lib/request-figures.ts";
import { printState, type StateFigures } from "../lib/state-figures.ts";
import { readDrift } from "../registry/drift.ts";
import { lastBackup } from "../store/last-backup.ts";
import type { Sql } from "../store/sql.ts";
import type { Releases } from "./releases.ts";
import { CALL_FAILURES } from "../releases/call-failure.ts";
import { SPAN_LOSSES } from "../tracing/exporter.ts";

interface MetricsOn {
  sql: Sql;
  ledger: Ledger;
  releases: Releases;
  clock: Clock;
  jobs: Jobs;
  openStreams: () => number;
}

export interface OpenMetrics {
  metrics: Metrics;
  resolved: NoteResolved;
  stop(): Promise<void>;
}

const DRIFT_EVERY_MS = 600_000;
/** Errors thrown where nobody awaits them (`jobs.ts`). */
const STRAYS = ["unhandled_rejection", "uncaught_exception"];
const OUTCOMES = ["answered", "bad_request", ...CALL_FAILURES];
const CIRCUITS = ["closed", "half_open", "open"] as const;

export function openMetrics(config: Config, on: MetricsOn): OpenMetrics {
  const { sql, ledger, jobs, clock, openStreams } = on;
  let drift: ReturnType<StateFigures["drift"]> = null;
  const watching = jobs.every("drift_watch", DRIFT_EVERY_MS, async () => {
    drift = { amount: await readDrift(sql), atMs: clock.nowMs() };
  });
  void watching.now();
  const requests = new RequestFigures();
  const state = stateFigures(config, on, () => drift);
  const metrics = new Metrics({
    openStreams,
    failedJobs: () =>
      new Map([...[...STRAYS, ...jobs.names].map((name) => [name, 0] as const), ...jobs.failures]),
    quarantined: () => ledger.pulse().quarantined,
    beside: () => requests.print() + printState(state),
  });
  metrics.beginAtZero({
    providers: config.providers.map(({ name }) => name),
    outcomes: OUTCOMES,
    doubts: DOUBTS,
    losses: SPAN_LOSSES,
  });
  const names = providerNames(config.providers);
  const figuresOf = (hold: Hold, route: string): RouteFigures | undefined =>
    requests.route(route, hold.admitted.format.surface) ?? openRoute(requests, { hold, route, names });
  return { metrics, resolved: noteResolved(metrics, requests, figuresOf), stop: () => watching.stop() };
}

/** Counts one request, its attempts, and what the last of them was charged for. */
const noteResolved =
  (
    metrics: Metrics,
    requests: RequestFigures,
    figuresOf: (hold: Hold, route: string) => RouteFigures | undefined,
  ): NoteResolved =>
  (hold, ending) => {
    const { admitted, attempts } = hold;
    requests.ended("charge" in ending ? "settled" : "released", admitted.amount);
    let last: RouteFigures | undefined;
    for (const { route, errorClass, durationMs } of attempts) {
      last = figuresOf(hold, route);
      last?.called(errorClass, durationMs / 1000);
    }
    if (!("charge" in ending)) return metrics.refused(ending.errorCode);
    last?.settled({
      inputTokens: ending.usage.promptTokens,
      outputTokens: ending.usage.completionTokens,
      charge: ending.charge,
      variance: ending.variance,
      seconds: ending.totalMs / 1000,
      firstPartSeconds:
        admitted.request.stream && ending.firstPartMs !== null ? ending.firstPartMs / 1000 : null,
    });
  };

/** Creates the figures of a route on its first request. */
function openRoute(
  requests: RequestFigures,
  { hold, route, names }: { hold: Hold; route: string; names: ReadonlyMap<string, string> },
): RouteFigures | undefined {
  const release = hold.admitted.candidates.find((candidate) => candidate.release.route === route)?.release;
  if (release === undefined) return undefined;
  const { model, provider } = release;
  const { surface } = hold.admitted.format;
  const providerName = names.get(provider) ?? provider;
  return requests.open({ model, provider, route, surface, operation: operationOf(surface), providerName });
}

function stateFigures(
  config: Config,
  { ledger, releases }: MetricsOn,
  drift: StateFigures["drift"],
): StateFigures {
  return {
    states: ROUTE_STATES,
    circuits: CIRCUITS,
    routes: () => [
      ...releases.routeTable.standings().map(({ release, state, circuit }) => {
        const { model, provider, route, expiresAtMs } = release;
        return { labels: { model, provider, route }, state, circuit, expiresAtMs };
      }),
      ...releases.routeTable.lost().map(({ route, names, state }) => {
        const labels = { model: names?.model ?? "", provider: names?.provider ?? "", route };
        return { labels, state, circuit: "closed" as const, expiresAtMs: null };
      }),
    ],
    accounts: () =>
      config.providers.map(({ name }) => ({
        provider: name,
        refused: releases.health.accountRefusal(name) !== null,
      })),
    ready: () => ledger.ready(),
    pulse: () => ledger.pulse(),
    backupAtMs: () => (config.databaseUrl === null ? (lastBackup(config.dataDir)?.atMs ?? 0) : null),
    stopped: () => ledger.pulse().stopped,
    drift,
  };
}
