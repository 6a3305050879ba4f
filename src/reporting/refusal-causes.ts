// Why requests were refused, counted by cause: the code, with the model or key concerned, the current state,
// and the remedy.
import type { z } from "zod";
import { type Expression, type ExpressionBuilder, sql as fragment, type SqlBool } from "kysely";
import type * as overviewShapes from "../api/shapes/overview.ts";
import { printMinute, printTime } from "../domain/print.ts";
import { ABOUT_KEY, ABOUT_MODEL } from "../domain/refusal-concerns.ts";
import { plainWordsOf } from "../domain/refusal-words.ts";
import type { Release } from "../domain/release.ts";
import { type ListedRoute, nearestToLive, type RouteStanding } from "../releases/standing.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import type { LabelBook } from "./labels.ts";
import { OF_PIECE, sumRequestLog } from "./request-pieces.ts";
import { sinceRequest } from "./request-time.ts";
import type { Window } from "./windows.ts";
import { whyStale } from "./stale-words.ts";

type Refusals = Pick<z.output<typeof overviewShapes.overview>, "refused" | "refusals">;
type Cause = Refusals["refusals"][number];

export interface CausesPorts {
  sql: Sql;
  labels: LabelBook;
  standings(): RouteStanding[];
  listedRoutes(): ListedRoute[];
}

/** Further causes are counted only in the sum. */
const CAUSES_MAX = 12;

interface Wanted {
  window: Window;
  /** Whether models that require a purchase are open to this organization. */
  paid: boolean;
  /** Only this key. */
  key?: string;
}

/** The ids of the request log's rows in a window. */
export const loggedIn = (organizationId: string, { fromMs, toMs }: Window) => ({
  organizationId,
  from: sinceRequest(fromMs),
  to: sinceRequest(toMs + 1),
});

/** Condition on the request log for its refusals, of all keys or of one. */
export const refusedRows =
  (key: string | undefined) =>
  (eb: ExpressionBuilder<Tables, "journal">): Expression<SqlBool> =>
    eb.and([eb("kind", "=", "refused"), ...when(key, (id) => eb("key_id", "=", id))]);

interface Counted {
  code: string;
  about_model: string | null;
  about_key: string | null;
  requests: bigint;
  latest: bigint;
}

/** Refusals by cause, the most frequent first; in one walk, so that the causes are those of the sum. */
async function countsOf(sql: Sql, organizationId: string, { window, key }: Wanted): Promise<Counted[]> {
  const only = (codes: readonly string[], column: "model" | "key_id") =>
    fragment<string | null>`CASE WHEN code IN (${fragment.join(codes)}) THEN ${fragment.ref(column)} END`;
  const pieces = sumRequestLog(sql, loggedIn(organizationId, window), (piece) => {
    const turnedAway = from
      .selectFrom(piece)
      .select((eb) => [
        "request_id",
        fragment<string | null>`CASE WHEN ${refusedRows(key)(eb)} THEN code END`.as("code"),
        only(ABOUT_MODEL, "model").as("about_model"),
        only(ABOUT_KEY, "key_id").as("about_key"),
        "requests",
        eb.fn.coalesce("last_at", "at").as("latest"),
      ])
      .as("turned_away");
    return from
      .selectFrom(turnedAway)
      .groupBy(["code", "about_model", "about_key"])
      .select(["code", "about_model", "about_key", ...OF_PIECE])
      .select((eb) => [exactTotal(eb.ref("requests")).as("counted"), eb.fn.max("latest").as("latest")]);
  });
  const causes = new Map<string, Counted>();
  for await (const { code, about_model, about_key, counted, latest } of pieces) {
    if (code === null) continue; // no refusal, or of another key
    const name = JSON.stringify([code, about_model, about_key]);
    const known = causes.get(name) ?? { code, about_model, about_key, requests: 0n, latest };
    causes.set(name, {
      ...known,
      requests: known.requests + exact(counted),
      latest: latest > known.latest ? latest : known.latest,
    });
  }
  return [...causes]
    .toSorted(([a, x], [b, y]) =>
      x.requests === y.requests ? (a < b ? -1 : 1) : x.requests > y.requests ? -1 : 1,
    )
    .map(([, cause]) => cause);
}

/** The most frequent first. */
export async function refusalCauses(
  on: CausesPorts,
  organizationId: string,
  wanted: Wanted,
): Promise<Refusals> {
  const { paid } = wanted;
  const all = await countsOf(on.sql, organizationId, wanted);
  const rows = all.slice(0, CAUSES_MAX);
  const names = await on.labels.keysOf(
    organizationId,
    rows.flatMap(({ about_key }) => about_key ?? []),
  );
  const routes = { standings: on.standings(), listed: on.listedRoutes() };
  return {
    refused: Number(all.reduce((sum, { requests }) => sum + requests, 0n)),
    refusals: rows.map(({ code, about_model: model, about_key: keyId, requests, latest }) => {
      const name = keyId === null ? null : (names.get(keyId)?.name ?? null);
      return {
        code,
        model,
        // For requests counted together the key is unknown.
        key: keyId === null || keyId === "" ? null : { id: keyId, name: name ?? keyId },
        requests: Number(requests),
        last_at: printTime(latest),
        ...remedyOf({ code, model, paid }, routes),
      };
    }),
  };
}

type Remedy = Pick<Cause, "cause" | "next" | "instead">;

/** A sum has no `param`, only the single requests do. */
const inWords = (next: string | null): string | null =>
  next !== null && /\bparam\b/.test(next) ? "look at the requests: each names the field" : next;

function remedyOf(
  { code, model, paid }: { code: string; model: string | null; paid: boolean },
  { standings, listed }: { standings: readonly RouteStanding[]; listed: readonly ListedRoute[] },
): Remedy {
  const words = plainWordsOf(code);
  const told = {
    cause: words?.happened ?? code,
    next: inWords(words?.next ?? null),
    instead: null,
  };
  if (model === null || !code.startsWith("route_")) return told;
  const routes = listed.filter(({ names }) => names?.model === model);
  if (routes.length === 0) return { ...told, cause: "the model no longer has a route" };
  const { route, state, reason, sinceMs, expiresAtMs } = nearestToLive(routes);
  if (state === "live")
    return { cause: "its route was closed, and is live again", next: null, instead: null };
  const cause = {
    stale: whyStale(reason, expiresAtMs),
    disabled: `the operator switched it off${reason === null ? "" : `: ${reason}`}`,
    unhealthy: `its route is unhealthy${sinceMs === null ? "" : ` since ${printMinute(sinceMs)}`}`,
  }[state];
  const closed = standings.find(({ release }) => release.route === route)?.release;
  const other = closed === undefined ? null : instead(closed, standings, paid);
  return { cause, next: told.next, instead: other?.model ?? null };
}

/**
 * A standard model that this organization may call right now and that accepts everything the other one
 * accepts; of several, the one with the nearest price.
 */
export function instead(closed: Release, standings: readonly RouteStanding[], paid: boolean): Release | null {
  const [nearest] = standings
    .filter(({ state, release }) => state === "live" && release.model !== closed.model)
    .map(({ release }) => release)
    .filter(
      (release) =>
        release.tier === "standard" && (paid || !release.requiresPaid) && takesWhat(closed, release),
    )
    .toSorted((a, b) => apart(a, closed) - apart(b, closed) || (a.model < b.model ? -1 : 1));
  return nearest ?? null;
}

function takesWhat(closed: Release, release: Release): boolean {
  if (release.contextWindow < closed.contextWindow) return false;
  if (Boolean(release.capabilities.embeddings) !== Boolean(closed.capabilities.embeddings)) return false;
  return Object.entries(closed.capabilities).every(
    ([name, offered]) =>
      Number(release.capabilities[name as keyof Release["capabilities"]] ?? 0) >= Number(offered),
  );
}

/** Only for sorting, for which a float is precise enough. */
const apart = ({ price: a }: Release, { price: b }: Release): number =>
  Math.abs(Number(a.input + a.output) - Number(b.input + b.output));
