// Releases and routes: publish a signed release, see what is open, close and open a route by hand. No approval
// overrides what is seen here (specification 1).
import type { Actor } from "../contract/actor.ts";
import type { ReleaseJson, RouteJson } from "../contract/admin.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Operator } from "../contract/operator.ts";
import type { Release, RouteState } from "../contract/release.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Publisher } from "../releases/publish.ts";
import type { RouteStanding } from "../releases/standing.ts";
import { printList, printTime, printTimeOrNull } from "./print.ts";
import { unknownRecord } from "./unknown-record.ts";

/** Verifies, stores and serves; the store decides about versions and switches. */
type Desk = Pick<Publisher, "publish" | "setDisabled" | "standings">;

export const releases = (desk: Desk, ledger: Pick<Ledger, "releases">): Operator["releases"] => ({
  async publish(jws, actor) {
    const outcome = await desk.publish(jws.trim(), actor);
    if (outcome.kind === "refused")
      throw new OperatorRefusal("release_refused", outcome.reason, outcome.param, outcome.step);
    return printRelease(outcome.release, stateOf(desk, outcome.release.route));
  },
  async list() {
    const published = await ledger.releases();
    return printList(
      published.map(({ release, publishedAtMs }) => ({
        ...printRelease(release, stateOf(desk, release.route)),
        published_at: printTime(publishedAtMs),
      })),
    );
  },
});

export function routes(desk: Desk): Operator["routes"] {
  const turn = async (change: Parameters<Desk["setDisabled"]>[0], actor: Actor): Promise<RouteJson> => {
    const done = await desk.setDisabled(change, actor);
    const standing = standingOf(desk, change.route);
    if (!done || standing === undefined) throw unknownRecord("route", change.route, "route");
    return printRoute(standing);
  };
  return {
    list: async () => printList(desk.standings().map(printRoute)),
    disable: ({ route, reason }, actor) => turn({ route, disabled: true, reason }, actor),
    enable: (route, actor) => turn({ route, disabled: false, reason: null }, actor),
  };
}

const standingOf = (desk: Desk, route: string): RouteStanding | undefined =>
  desk.standings().find(({ release }) => release.route === route);

/** A release that is stored but not on the shelf serves nothing. */
const stateOf = (desk: Desk, route: string): RouteState => standingOf(desk, route)?.state ?? "stale";

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
}: RouteStanding): RouteJson => ({
  route: release.route,
  model: release.model,
  provider: release.provider,
  region: release.region,
  state,
  reason,
  version: release.version,
  expires_at: printTime(release.expiresAtMs),
  health: { circuit, failures, next_probe_at: printTimeOrNull(nextProbeAtMs) },
});
