// A release and a route as the operator's lists print them.
import type { ReleaseJson, RouteJson } from "../api/shapes/records.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import type { Release, RouteState } from "../domain/release.ts";
import type { LostRoute, RouteStanding } from "../releases/standing.ts";

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

export const printRoute = ({
  release,
  state,
  reason,
  circuit,
  failures,
  nextProbeAtMs,
  sinceMs,
}: RouteStanding): RouteJson => ({
  route: release.route,
  model: release.model,
  provider: release.provider,
  region: release.region,
  state,
  reason,
  since: printTimeOrNull(sinceMs),
  version: release.version,
  expires_at: printTime(release.expiresAtMs),
  health: { circuit, failures, next_probe_at: printTimeOrNull(nextProbeAtMs) },
});

/** A route of which nothing but its name may be left. */
export const printLostRoute = ({ route, version, names, state, reason, sinceMs }: LostRoute): RouteJson => ({
  route,
  model: names?.model ?? null,
  provider: names?.provider ?? null,
  region: names?.region ?? null,
  state,
  reason,
  since: printTimeOrNull(sinceMs),
  version,
  expires_at: null,
  health: { circuit: "closed", failures: 0, next_probe_at: null },
});
