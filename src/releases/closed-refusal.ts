// The refusal for a caller when no release of the model is open (wire.md §4.1): based on the state nearest to
// live, with the time to retry.
import { Refusal, type RefusalCode } from "../domain/refusals.ts";
import type { RouteState } from "../domain/release.ts";
import { printTimeOrNull } from "../domain/print.ts";
import type { RouteStanding } from "./standing.ts";

/** Used for a probe time that is unknown or just past. */
const SOON_MS = 1000;

const CLOSED: Record<RouteState, { code: RefusalCode; why: string }> = {
  disabled: { code: "route_disabled", why: "is switched off by the operator. Choose another model." },
  stale: {
    code: "route_release_stale",
    why: "has no current signed release. The operator has to publish a new one.",
  },
  unhealthy: {
    code: "route_unhealthy",
    why: "has no healthy route right now. Send the request again later.",
  },
  // It opened again between two checks.
  live: { code: "route_unavailable", why: "was briefly unavailable. Send the request again." },
};

/** The same text for a model that does not exist and for one that this key may not see. */
export const modelNotFound = (model: string): Refusal =>
  new Refusal(
    "model_not_found",
    `The model \`${model}\` does not exist or you do not have access to it. GET /v1/models lists those of this key.`,
    { param: "model" },
  );

/** There are no probes and no recovery: only the operator's configuration can help. */
const NO_PROVIDER = {
  code: "route_unavailable",
  why: "has no provider that is set up on this gateway. Try again later or choose another model.",
} as const;

interface ClosedRoute extends Pick<RouteStanding, "state" | "reason" | "nextProbeAtMs"> {
  version: number;
}

/**
 * `route`: the one nearest to live. Retryable only if it may open by itself; then it says when, with a
 * minimum delay.
 */
export function closedRouteRefusal(model: string, route: ClosedRoute, nowMs: number): Refusal {
  const { code, why } =
    route.state === "unhealthy" && route.reason === "no_provider" ? NO_PROVIDER : CLOSED[route.state];
  const retryable = route.state === "unhealthy" || route.state === "live";
  return new Refusal(code, `The model \`${model}\` ${why}`, {
    param: "model",
    details: {
      state: route.state,
      release_version: route.version,
      next_probe_at: printTimeOrNull(route.nextProbeAtMs),
    },
    ...(retryable && { retryAfterMs: Math.max((route.nextProbeAtMs ?? nowMs) - nowMs, SOON_MS) }),
  });
}
