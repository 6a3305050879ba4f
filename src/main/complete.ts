// Connects the request path (`gateway/complete`) to this process: the rooms that it calls, its limits and
// deadlines, and the receivers of its errors.
import { createHmac } from "node:crypto";
import type { Config } from "../config/config.ts";
import type { CallScopes } from "../gateway/call-scope.ts";
import type { CompletePorts } from "../gateway/complete.ts";
import { MINUTE_MS } from "../domain/durations.ts";
import { InFlight } from "../gateway/in-flight.ts";
import { ProgressLog } from "../gateway/progress-log.ts";
import { RemoteInFlight } from "../gateway/remote-in-flight.ts";
import { RunningHolds } from "../gateway/running-holds.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Concurrency } from "../limits/concurrency.ts";
import type { LargeAnswers } from "../limits/large-answers.ts";
import type { Prompts } from "../limits/prompts.ts";
import { Pacer } from "../limits/pacer.ts";
import { SpentRates } from "../limits/spent-rates.ts";
import { Windows } from "../limits/window.ts";
import type { Providers } from "./providers.ts";
import type { Releases } from "./releases.ts";
import { reportsOf } from "./reports.ts";
import type { OpenedStore } from "./store.ts";
import type { NoteResolved } from "../gateway/hold.ts";

/** Of each organization: honest callers get an exact time to retry, and a flood costs no more than this. */
const REFUSED_COUNTS = { most: 30, windowMs: MINUTE_MS, kept: 10_000 };

export interface CompleteOn {
  store: OpenedStore;
  providers: Providers;
  releases: Releases;
  limits: Concurrency;
  answers: LargeAnswers;
  prompts: Prompts;
  callScopes: CallScopes;
  metrics: Metrics;
  clock: Clock;
  log: Log;
  jobs: Jobs;
  /** Receives the error of a bug, for the log. */
  failed: (error: unknown, requestId?: string) => void;
  resolved: NoteResolved;
}

export function completePorts(
  config: Config,
  {
    store,
    providers,
    releases,
    limits,
    answers,
    prompts,
    callScopes,
    metrics,
    clock,
    log,
    jobs,
    failed,
    resolved,
  }: CompleteOn,
): CompletePorts & { ledger: Ledger; routeTable: Releases["routeTable"] } {
  const { ledger, dataKey, look } = store;
  const inFlight = new InFlight();
  const refusedCounts = new Windows(REFUSED_COUNTS);
  return {
    ledger,
    clock,
    routeTable: releases.routeTable,
    refreshRoutes: releases.refresh,
    othersPublish: releases.othersPublish,
    mayCountRefused: (organizationId) => refusedCounts.count(organizationId, clock.monotonicMs()).fits,
    providers: providers.byName,
    limits,
    answers,
    prompts,
    spentRates: new SpentRates(clock),
    pacer: new Pacer(),
    holds: new RunningHolds(ledger, resolved),
    progress: new ProgressLog(ledger, jobs),
    callScopes,
    inFlight,
    remoteInFlight: look === null ? null : new RemoteInFlight({ inFlight, look, jobs }),
    attachWaitMs: config.idempotency.attachWaitMs,
    timeouts: {
      answerMs: config.limits.answerTimeoutMs,
      streamMs: config.limits.requestTimeoutMs,
      firstPartMs: config.limits.firstPartWaitMs,
    },
    showHeadroom: config.headers.headroom,
    showRateLimit: config.headers.rateLimit,
    limitRefused: (limit) => metrics.limitRefused(limit),
    identify: (organizationId, value) =>
      createHmac("sha256", dataKey).update(`${organizationId}\n${value}`).digest("base64url"),
    report: reportsOf({ clock, health: releases.health, metrics, log }),
    doubted: ({ requestId, attempt: { provider, route, doubts = [] }, told }) => {
      for (const reason of doubts) metrics.doubted(provider, reason);
      log.warn(
        { id: requestId, provider, route, doubts, told },
        "a provider's usage figures were not accepted as reported",
      );
    },
    gaveUp: failed,
    abandoned: (requestId) => {
      metrics.abandoned();
      failed(new Error("the hold is still open; recovery will resolve it"), requestId);
    },
  };
}
