// Handles each finished call to a provider: the route's health, a counter, and a log line if an operator has
// to act, with the provider's own message as far as it may be kept.
import type { ReportOutcome } from "../gateway/dispatch.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Health, ProbeTold } from "../releases/health.ts";

/** The interval of log lines about a shortage: while it lasts, every call meets it. */
const SHORTAGE_EVERY_MS = 60_000;

export interface ReportsPorts {
  clock: Pick<Clock, "monotonicMs">;
  health: Pick<Health, "report">;
  metrics: Pick<Metrics, "attempted" | "overloaded">;
  log: Pick<Log, "error" | "warn" | "info">;
}

/**
 * Logs failing probes: a provider that fails its probe gets no calls, so nothing else in the log would show
 * it.
 */
export const probeToldOf =
  (log: Pick<Log, "warn" | "info">): ProbeTold =>
  (provider, why) => {
    if (why === null) log.info({ provider }, `${provider} answers its probe again; its routes are open`);
    else
      log.warn(
        { provider, why },
        `${provider} does not answer its probe; its routes are closed until it does`,
      );
  };

/** Called once per attempt, after it has ended; a successful attempt reports no failure. */
export function reportsOf({ clock, health, metrics, log }: ReportsPorts): ReportOutcome {
  let shortAtMs = Number.NEGATIVE_INFINITY;
  return ({ release }, failure, { requestId, organizationId }, outcome) => {
    const { provider, route } = release;
    metrics.attempted(provider, outcome);
    if (failure === null) {
      if (health.report(release, organizationId, null) === "well_again")
        log.info(
          { id: requestId, provider, route },
          `a call to ${provider} succeeded: ${route} is open again`,
        );
      return;
    }
    const { words = null, status = null } = failure.upstream;
    const turned = health.report(release, organizationId, failure.reason, words);
    const about = { id: requestId, provider, route, status, words, why: failure.message };
    if (turned === "closed_route")
      log.warn(about, `calls to ${provider} keep failing: ${route} is closed except for trials`);
    if (turned === "closed_route_for_one")
      log.warn(
        { ...about, org: organizationId },
        `one organization's calls to ${provider} keep failing: ${route} is closed for it except for trials`,
      );
    switch (outcome) {
      case "quota":
        return log.error(
          about,
          `the account at ${provider} is out of quota or credit; its routes are closed`,
        );
      case "account":
        return log.error(about, `${provider} refuses this gateway's key or account; its routes are closed`);
      case "rejected":
        return log.warn(about, `${provider} did not accept what this gateway sent`);
      case "shortage": {
        metrics.overloaded();
        const nowMs = clock.monotonicMs();
        if (nowMs - shortAtMs < SHORTAGE_EVERY_MS) return;
        shortAtMs = nowMs;
        return log.error(about, "this gateway has no resources left for new connections: calls get 503");
      }
    }
  };
}
