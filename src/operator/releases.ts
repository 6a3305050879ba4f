// Releases and routes: publish a signed release, see what is open, close and open a route by hand. No approval
// overrides what is seen here (specification 1).
import type { ReleaseJson, RouteJson } from "../contract/admin.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Operator } from "../contract/operator.ts";
import type { Release, RouteState } from "../contract/release.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ReleaseError } from "../releases/release-error.ts";
import { printList, printTime, printTimeOrNull } from "./print.ts";
import { unknownRecord } from "./unknown-record.ts";

/** One route as it stands now. */
export interface RouteStanding {
  release: Release;
  state: RouteState;
  /** The operator's reason, while disabled. */
  reason: string | null;
  circuit: "closed" | "open" | "half_open";
  failures: number;
  nextProbeAtMs: number | null;
}

/** What the rooms below do with releases; `main` wires publication and the shelf to it. */
export interface RouteDesk {
  /** Verifies, stores and serves a release; the same one twice is no error. Throws `ReleaseError`. */
  publish(jws: string, actor: string): Promise<Release>;
  /** Takes effect on the very next admission; false when there is no such route. */
  setDisabled(
    change: { route: string; disabled: boolean; reason: string | null },
    actor: string,
  ): Promise<boolean>;
  standings(): RouteStanding[];
}

export const releases = (desk: RouteDesk, ledger: Pick<Ledger, "releases">): Operator["releases"] => ({
  async publish(jws, actor) {
    const release = await publish(desk, jws.trim(), actor);
    return printRelease(release, stateOf(desk, release.route));
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

async function publish(desk: RouteDesk, jws: string, actor: string): Promise<Release> {
  try {
    return await desk.publish(jws, actor);
  } catch (error) {
    if (error instanceof ReleaseError)
      throw new OperatorRefusal("release_refused", error.message, error.path);
    throw error;
  }
}

export function routes(desk: RouteDesk): Operator["routes"] {
  const change = async (
    wanted: Parameters<RouteDesk["setDisabled"]>[0],
    actor: string,
  ): Promise<RouteJson> => {
    const done = await desk.setDisabled(wanted, actor);
    const standing = standingOf(desk, wanted.route);
    if (!done || standing === null) throw unknownRecord("route", wanted.route, "route");
    return printRoute(standing);
  };
  return {
    list: async () => printList(desk.standings().map(printRoute)),
    disable: ({ route, reason }, actor) => change({ route, disabled: true, reason }, actor),
    enable: (route, actor) => change({ route, disabled: false, reason: null }, actor),
  };
}

const standingOf = (desk: RouteDesk, route: string): RouteStanding | null =>
  desk.standings().find(({ release }) => release.route === route) ?? null;

const stateOf = (desk: RouteDesk, route: string): RouteState => standingOf(desk, route)?.state ?? "stale";

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
