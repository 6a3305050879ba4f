// The API of the dashboard, route by route as the server describes it. Addresses, answers and bodies derive from that
// description; nothing else in the dashboard spells out an API path or type.
import type { AppAnswer, AppBody, AppQuery, AppRoute } from "../../src/api/client.ts";
import { type Query, withQuery } from "./client.ts";

export type Route = AppRoute;
/** The answer of a route. */
export type Answer<R extends Route> = AppAnswer<R>;
/** One row of a list. */
export type Row<R extends Route> = Answer<R> extends { data: readonly (infer One)[] } ? One : never;
/** The body of a route; `{}` if it takes none. */
export type Body<R extends Route> = AppBody<R>;
/** The query of a route; undefined and blank values are left out of the address. */
export type Asked<R extends Route> = { [Name in keyof AppQuery<R>]?: Query[string] };

export type Read = Extract<Route, `GET ${string}`>;
export type Write = Exclude<Route, Read>;

type Names<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
/** The parameters in a route's braces. */
export type Params<R extends Route> = Record<Names<R>, string>;

const ROOT = "/app/v1";

export const methodOf = (route: Route): string => route.slice(0, route.indexOf(" "));

export const addressOf = <R extends Route>(route: R, params: Params<R>, asked: Query = {}): string =>
  withQuery(
    ROOT +
      segmentsOf(route, params)
        .map((segment) => `/${encodeURIComponent(segment)}`)
        .join(""),
    asked,
  );

/** The address as a query key: invalidating a prefix invalidates everything below that organization. */
export const segmentsOf = <R extends Route>(route: R, params: Params<R>): string[] =>
  route
    .slice(route.indexOf("/") + 1)
    .split("/")
    .map((segment) => (segment.startsWith("{") ? (params as Query)[segment.slice(1, -1)] : segment))
    .map(String);
