// Releases and routes: publish a signed release, see what is open, close and open a route by hand. No approval
// overrides what is seen here (specification 1).
import type { ReleaseJson, RouteJson } from "../contract/admin.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Operator } from "../contract/operator.ts";
import type { Release, RouteState } from "../contract/release.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ReleaseError } from "../releases/release-error.ts";
import type { RouteStanding, Shelf } from "../releases/shelf.ts";
import { printList, printTime, printTimeOrNull } from "./print.ts";
import { unknownRecord } from "./unknown-record.ts";

/** What publication and the shelf do for it. */
export interface ReleaseDesk {
  ledger: Pick<Ledger, "releases" | "setRouteDisabled">;
  shelf: Pick<Shelf, "route" | "setDisabled" | "standings">;
  /** Verifies, stores and serves a release; the same one twice is no error. Throws `ReleaseError`. */
  publish(jws: string, actor: string): Promise<Release>;
}

export const releases = (desk: ReleaseDesk): Operator["releases"] => ({
  async publish(jws, actor) {
    const release = await publish(desk, jws.trim(), actor);
    return printRelease(release, desk.shelf.route(release.route)?.state ?? "stale");
  },
  async list() {
    const published = await desk.ledger.releases();
    return printList(
      published.map(({ release, publishedAtMs }) => ({
        ...printRelease(release, desk.shelf.route(release.route)?.state ?? "stale"),
        published_at: printTime(publishedAtMs),
      })),
    );
  },
});

async function publish(desk: ReleaseDesk, jws: string, actor: string): Promise<Release> {
  try {
    return await desk.publish(jws, actor);
  } catch (error) {
    if (error instanceof ReleaseError)
      throw new OperatorRefusal("release_refused", error.message, error.path);
    throw error;
  }
}

export function routes({ ledger, shelf }: ReleaseDesk): Operator["routes"] {
  // The store first: admission checks the switch there, so the change holds from its commit on.
  const turn = async (route: string, to: { disabled: boolean; reason: string | null; actor: string }) => {
    const stored =
      shelf.route(route) && (await ledger.setRouteDisabled(route, to.disabled, to.reason, to.actor));
    if (stored) shelf.setDisabled(route, to.disabled, to.reason);
    const standing = shelf.route(route);
    if (!stored || standing === null) throw unknownRecord("route", route, "route");
    return printRoute(standing);
  };
  return {
    list: async () => printList(shelf.standings().map(printRoute)),
    disable: ({ route, reason }, actor) => turn(route, { disabled: true, reason, actor }),
    enable: (route, actor) => turn(route, { disabled: false, reason: null, actor }),
  };
}

const printRelease = (release: Release, state: RouteState): ReleaseJson => ({
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

const printRoute = ({
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
