// A release and a route as the operator's lists print them.
import type { ReleaseJson, RouteJson } from "../api/shapes/records.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import type { Release, RouteState } from "../domain/release.ts";
import type { ListedRoute } from "../releases/standing.ts";

export const printRelease = (release: Release, state: RouteState): ReleaseJson => ({
  route: release.route,
  version: release.version,
  state,
  model: release.model,
  provider: release.provider,
  upstream_model: release.upstreamModel,
  region: release.region,
  tier: release.tier,
  requires_paid: release.requiresPaid,
  digest: release.digest,
  signed_by: release.signedBy,
  issued_at: printTime(release.issuedAtMs),
  expires_at: printTime(release.expiresAtMs),
});

/** Works however much is left of its release. */
export const printRoute = (listed: ListedRoute): RouteJson => ({
  route: listed.route,
  model: listed.names?.model ?? null,
  provider: listed.names?.provider ?? null,
  region: listed.names?.region ?? null,
  state: listed.state,
  reason: listed.reason,
  since: printTimeOrNull(listed.sinceMs),
  version: listed.version,
  expires_at: printTimeOrNull(listed.expiresAtMs),
  health: {
    circuit: listed.circuit,
    failures: listed.failures,
    next_probe_at: printTimeOrNull(listed.nextProbeAtMs),
  },
});
