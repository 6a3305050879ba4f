// How routes and models stand right now, for callers (`/v1/models`) and operators (`route list`).
import { type Release, ROUTE_STATES, type RouteState } from "../domain/release.ts";
import type { RouteNames } from "../domain/route-names.ts";
import type { RouteHealth } from "./health.ts";

/** A route as it stands now. */
export interface RouteStanding {
  release: Release;
  state: RouteState;
  /** The operator's reason while disabled; otherwise why it is not live; null while live. */
  reason: string | null;
  circuit: RouteHealth["circuit"];
  failures: number;
  /** Milliseconds since the epoch; null while nothing is wrong. */
  nextProbeAtMs: number | null;
  /** When the state began, in milliseconds since the epoch; null if unknown. */
  sinceMs: number | null;
}

/** A closed route whose release is unreadable and unknown: only its name is left. */
export interface LostRoute {
  route: string;
  /** The version of its newest release, which is damaged. */
  version: number;
  /** Null if not even those are known. */
  names: RouteNames | null;
  state: Extract<RouteState, "stale" | "disabled">;
  reason: string;
  /** Milliseconds since the epoch; null if unknown. */
  sinceMs: number | null;
}

/** A route as lists show it, however much is left of its release. */
export interface ListedRoute extends Omit<RouteStanding, "release"> {
  route: string;
  version: number;
  /** Null if unknown. */
  names: RouteNames | null;
  /** Milliseconds since the epoch; null if unknown. */
  expiresAtMs: number | null;
}

/** For the operator's list. */
export function listedStanding({ release, ...standing }: RouteStanding): ListedRoute {
  const { route, version, model, provider, region, expiresAtMs } = release;
  return { ...standing, route, version, names: { model, provider, region }, expiresAtMs };
}

/** A route whose newest release is damaged: listed, but not callable. */
export const listedLost = (lost: LostRoute): ListedRoute => ({
  ...lost,
  circuit: "closed",
  failures: 0,
  nextProbeAtMs: null,
  expiresAtMs: null,
});

export interface ModelStanding {
  model: string;
  /** When its oldest current release was issued, in milliseconds since the epoch. */
  createdAtMs: number;
  /** The state of its route nearest to live. */
  state: RouteState;
  /** In trial order: by priority. At least one. */
  routes: RouteStanding[];
}

const placeOf = ({ state }: Pick<RouteStanding, "state">): number => ROUTE_STATES.indexOf(state);

/** Returns the route nearest to live; the first of equals. */
export function nearestToLive<Route extends Pick<RouteStanding, "state">>(routes: readonly Route[]): Route {
  const [nearest] = routes.toSorted((a, b) => placeOf(a) - placeOf(b));
  if (nearest === undefined) throw new Error("a model without routes is not on the route table");
  return nearest;
}
