// Releases and routes: publish a signed release, list what is open, close and open a route by hand. No
// approval overrides these states (specification 1).
import type { Actor } from "../domain/actor.ts";
import type { ReleaseJson, ReleaseListJson, RouteJson } from "../api/shapes/records.ts";
import type { DisableRoute, RouteRecordsQuery } from "../api/shapes/record-inputs.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { RouteState } from "../domain/release.ts";
import type { Publisher } from "../releases/publish.ts";
import type { ListedRoute, RouteStanding } from "../releases/standing.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { printTime } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { readCursor } from "../reporting/cursors.ts";
import { printRelease, printRoute } from "../reporting/print-release.ts";
import type { ListOf } from "./list.ts";

type ListedRelease = ReleaseListJson["data"][number];

/** Verifies, stores and serves; the store decides about versions and switches. */
type ReleasePublisher = Pick<
  Publisher,
  "highestVersion" | "listed" | "publish" | "published" | "routes" | "setDisabled" | "standings"
>;

export const releases = (publisher: ReleasePublisher) => ({
  async publish(jws: string, actor: Actor): Promise<ReleaseJson> {
    const outcome = await publisher.publish(jws.trim(), actor);
    if (outcome.kind === "refused")
      throw new OperatorRefusal("release_refused", outcome.reason, outcome.param, outcome.step);
    return printRelease(outcome.release, stateOf(publisher, outcome.release.route));
  },
  /** The newest release of each route, ordered by route. */
  async list(asked: RouteRecordsQuery): Promise<ReleaseListJson> {
    const stored = await publisher.routes();
    const listed = new Map(publisher.listed().map((one) => [one.route, one]));
    const { shown: routes, next_cursor } = pageOfRoutes([...new Set([...stored, ...listed.keys()])], asked);
    const published = new Map((await publisher.published(routes)).map((one) => [one.release.route, one]));
    const data = routes.flatMap((route): ListedRelease[] => {
      const whole = published.get(route);
      if (whole !== undefined) return [printPublished(whole, stateOf(publisher, route))];
      const damaged = listed.get(route);
      return damaged === undefined ? [] : [printDamaged(damaged, publisher.highestVersion(route))];
    });
    return { data, next_cursor };
  },
});

/**
 * A page of routes in the order of their names. Any name is a place to begin behind: another gateway may know more
 * routes than this one. Throws `Refusal` for a cursor of another list.
 */
function pageOfRoutes(
  all: readonly string[],
  { cursor, limit = RECORDS_MAX, search = "" }: RouteRecordsQuery,
): { shown: string[]; next_cursor: string | null } {
  const [, after = ""] = cursor === undefined ? [] : readCursor(cursor, ROUTE_CURSOR);
  const wanted = search.toLowerCase();
  const rest = all.filter((route) => route > after && route.toLowerCase().includes(wanted)).toSorted();
  const shown = rest.slice(0, limit);
  return { shown, next_cursor: rest.length > limit ? `route.${shown.at(-1)}` : null };
}
const ROUTE_CURSOR = /^route\.(.+)$/s;

const printPublished = (
  { release, publishedAtMs }: Awaited<ReturnType<ReleasePublisher["published"]>>[number],
  state: RouteState,
): ListedRelease => ({
  ...printRelease(release, state),
  published_at: printTime(publishedAtMs),
  context_window: release.contextWindow,
  max_output_tokens: release.maxOutputTokens,
  default_output_tokens: release.defaultOutputTokens,
  price: release.publishedPrice,
  capabilities: release.capabilities,
  reasoning: release.reasoning,
});

/** For an unreadable newest release: the names of its route, and that it serves nobody. */
const printDamaged = ({ route, state, names }: ListedRoute, version: number): ListedRelease => ({
  route,
  version,
  state,
  model: names?.model ?? null,
  provider: names?.provider ?? null,
  region: names?.region ?? null,
  ...UNREAD,
});

const UNREAD = {
  upstream_model: null,
  tier: null,
  requires_paid: null,
  digest: null,
  signed_by: null,
  issued_at: null,
  expires_at: null,
  published_at: null,
  context_window: null,
  max_output_tokens: null,
  default_output_tokens: null,
  price: null,
  capabilities: null,
  reasoning: null,
} as const;

/** Changes throw `OperatorRefusal` for a route without any release. */
export function routes(publisher: ReleasePublisher) {
  const turn = async (
    change: Parameters<ReleasePublisher["setDisabled"]>[0],
    actor: Actor,
  ): Promise<RouteJson> => {
    const done = await publisher.setDisabled(change, actor);
    const printed = printedRoutes(publisher).find(({ route }) => route === change.route);
    if (!done || printed === undefined) throw unknownRecord("route", change.route, "route");
    return printed;
  };
  return {
    /** Ordered by route. */
    list: async (asked: RouteRecordsQuery): Promise<ListOf<RouteJson>> => {
      const listed = new Map(printedRoutes(publisher).map((one) => [one.route, one]));
      const { shown, next_cursor } = pageOfRoutes([...listed.keys()], asked);
      return { data: shown.flatMap((route) => listed.get(route) ?? []), next_cursor };
    },
    disable: ({ route, reason }: DisableRoute, actor: Actor) =>
      turn({ route, disabled: true, reason }, actor),
    enable: (route: string, actor: Actor) => turn({ route, disabled: false, reason: null }, actor),
  };
}

const printedRoutes = (publisher: ReleasePublisher): RouteJson[] => publisher.listed().map(printRoute);

const standingOf = (publisher: ReleasePublisher, route: string): RouteStanding | undefined =>
  publisher.standings().find(({ release }) => release.route === route);

/** A release that is stored but not in the route table serves nothing. */
const stateOf = (publisher: ReleasePublisher, route: string): RouteState =>
  standingOf(publisher, route)?.state ?? "stale";
