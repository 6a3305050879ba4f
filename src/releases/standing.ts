// How routes and models stand right now, as callers (`/v1/models`) and operators (`route list`) see them.
import { type Release, ROUTE_STATES, type RouteState } from "../domain/release.ts";
import type { RouteNames } from "../domain/route-names.ts";
import type { RouteHealth } from "./health.ts";

/** A route as it stands now. */
export interface RouteStanding {
  release: Release;
  state: RouteState;
  /** The operator's words while disabled; else a word for why it is not live; null while live. */
  reason: string | null;
  circuit: RouteHealth["circuit"];
  failures: number;
  /** Milliseconds since the epoch; null while nothing is wrong. */
  nextProbeAtMs: number | null;
  /** Since when the state holds, milliseconds since the epoch; null where nothing tells. */
  sinceMs: number | null;
}

/** A closed route of which no release can be read, nor told what it was: only how it is called. */
export interface LostRoute {
  route: string;
  /** Of its newest release, which is damaged. */
  version: number;
  /** Null where not even that can be told. */
  names: RouteNames | null;
  state: Extract<RouteState, "stale" | "disabled">;
  reason: string;
  /** Null where nothing tells. Milliseconds since the epoch. */
  sinceMs: number | null;
}

/** A route as lists name it, however much is left of its release. */
export interface ListedRoute extends Omit<RouteStanding, "release"> {
  route: string;
  version: number;
  /** Null where nothing tells. */
  names: RouteNames | null;
  /** Null where nothing tells. Milliseconds since the epoch. */
  expiresAtMs: number | null;
}

/** For an operator's list. */
export function listedStanding({ release, ...standing }: RouteStanding): ListedRoute {
  const { route, version, model, provider, region, expiresAtMs } = release;
  return { ...standing, route, version, names: { model, provider, region }, expiresAtMs };
}

/** A route whose newest release is damaged: it is listed, and cannot be called. */
export const listedLost = (lost: LostRoute): ListedRoute => ({
  ...lost,
  circuit: "closed",
  failures: 0,
  nextProbeAtMs: null,
  expiresAtMs: null,
});

export interface ModelStanding {
  model: string;
  /** Issue of its oldest current release, milliseconds since the epoch. */
  createdAtMs: number;
  /** That of its route nearest to live. */
  state: RouteState;
  /** In the order of trial: by priority. At least one. */
  routes: RouteStanding[];
}

const placeOf = ({ state }: Pick<RouteStanding, "state">): number => ROUTE_STATES.indexOf(state);

/** Of several routes the one nearest to live; the first of equals. */
export function nearestToLive<Route extends Pick<RouteStanding, "state">>(routes: readonly Route[]): Route {
  const [nearest] = routes.toSorted((a, b) => placeOf(a) - placeOf(b));
  if (nearest === undefined) throw new Error("a model without routes is not on the route table");
  return nearest;
}
