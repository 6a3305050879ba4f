// Search across the dashboard's pages: keys by name, id, prefix or last four characters, models, requests by
// id, and organizations for operators, each with a limit. A pasted key is read only up to its secret.
import { type Expression, type ExpressionBuilder, sql as fragment, type SqlBool } from "kysely";
import type { z } from "zod";
import type * as searchShapes from "../api/shapes/search.ts";
import { type ListedRoute, nearestToLive } from "../releases/standing.ts";
import { from, isPart, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { isRequestId } from "./cursors.ts";
import { organizationNames } from "./organization-names.ts";

type Hit = z.output<typeof searchShapes.searchHits>["data"][number];

interface SearchPorts {
  sql: Sql;
  listedRoutes(): ListedRoute[];
  flushRequestLog(): Promise<void>;
}

const OF_EACH = 6;
/**
 * The secret is preceded by the organization's id and the key's, 12 characters each (`registry/secret.ts`).
 */
const KEY_TEXT = /^gw_sk_([0-9A-Za-z]{12})([0-9A-Za-z]{0,12})/;

/** Within one organization, or (null) everywhere. */
export async function search(on: SearchPorts, organizationId: string | null, q: string): Promise<Hit[]> {
  const [organizations, keys, requests] = await Promise.all([
    organizationId === null ? organizationsLike(on.sql, q) : [],
    keysLike(on.sql, organizationId, q),
    isRequestId(q) ? requestsOf(on, organizationId, q) : [],
  ]);
  const found = [...requests, ...organizations, ...keys, ...modelsLike(on.listedRoutes(), q)];
  const names = await organizationNames(
    on.sql,
    found.flatMap(({ org }) => org ?? []),
  );
  return found.map((one) => ({ ...one, org_name: one.org === null ? null : (names.get(one.org) ?? null) }));
}

type Unnamed = Omit<Hit, "org_name">;

async function organizationsLike(sql: Sql, q: string): Promise<Unnamed[]> {
  const query = from
    .selectFrom("organization")
    .select(["org_id", "name"])
    .where((eb) => eb.or([isPart(eb.ref("name"), q), eb("org_id", "=", q)]))
    .orderBy("org_id")
    .limit(OF_EACH);
  return (await rowsOf(sql, query)).map(({ org_id: id, name }) => ({
    kind: "organization",
    id,
    org: id,
    title: name,
    detail: null,
    state: null,
  }));
}

/** Live keys first, each group newest first. */
async function keysLike(sql: Sql, organizationId: string | null, q: string): Promise<Unnamed[]> {
  const query = from
    .selectFrom("api_key")
    .select(["org_id", "key_id", "name", "prefix", "revoked_at", "paused_at"])
    .where((eb) =>
      eb.and([
        ...(organizationId === null ? [] : [eb("org_id", "=", organizationId)]),
        placeOf(eb, q) ??
          eb.or([
            eb("key_id", "=", q),
            eb("last_four", "=", q),
            eb.and([isLive(eb), isPart(eb.ref("name"), q)]),
          ]),
      ]),
    )
    .orderBy((eb) => eb.not(isLive(eb)))
    .orderBy("created_at", "desc")
    .orderBy("key_id")
    .limit(OF_EACH);
  return (await rowsOf(sql, query)).map((row) => ({
    kind: "key",
    id: row.key_id,
    org: row.org_id,
    title: row.name,
    detail: row.prefix,
    state: row.paused_at !== null ? "paused" : row.revoked_at === null ? "active" : "revoked",
  }));
}

/** A pause is stored as a revocation with a mark; a paused key counts as live. */
const isLive = (eb: ExpressionBuilder<Tables, "api_key">): Condition =>
  eb.or([eb("revoked_at", "is", null), eb("paused_at", "is not", null)]);

type Condition = Expression<SqlBool>;

/** The range of the primary key for keys that begin this way. Null for text that begins no key. */
function placeOf(eb: ExpressionBuilder<Tables, "api_key">, q: string): Condition | null {
  const [, org, key = ""] = KEY_TEXT.exec(q) ?? [];
  if (org === undefined) return null;
  return eb.and([
    eb("org_id", "=", `org_${org}`),
    eb(fragment<string>`substr(key_id, 1, ${fragment.lit(4 + key.length)})`, "=", `key_${key}`),
  ]);
}

/** Searches both tables: requests with a hold and those that held nothing. */
async function requestsOf(on: SearchPorts, organizationId: string | null, id: string): Promise<Unnamed[]> {
  await on.flushRequestLog();
  const owners =
    organizationId === null ? from.selectFrom("organization").select("org_id") : [organizationId];
  const held = from
    .selectFrom("request")
    .select(["org_id", "model", "state"])
    .where("org_id", "in", owners)
    .where("request_id", "=", id)
    .limit(1);
  const heldNothing = from
    .selectFrom("journal")
    .select(["org_id", "model", "kind as state"])
    .where("org_id", "in", owners)
    .where("request_id", "=", id)
    .limit(1);
  const rows = [...(await rowsOf(on.sql, held)), ...(await rowsOf(on.sql, heldNothing))];
  return rows.slice(0, 1).map(({ org_id: org, model, state }) => ({
    kind: "request",
    id,
    org,
    title: id,
    detail: model,
    state: state === "dispatched" ? "running" : state,
  }));
}

function modelsLike(listed: readonly ListedRoute[], q: string): Unnamed[] {
  const wanted = q.toLowerCase();
  const told = listed.flatMap(({ names, state }) => (names === null ? [] : [{ ...names, state }]));
  const routes = told.filter(({ model }) => model.toLowerCase().includes(wanted));
  return [...Map.groupBy(routes, ({ model }) => model)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, OF_EACH)
    .map(([id, of]) => ({
      kind: "model",
      id,
      org: null,
      title: id,
      detail: of.map(({ provider }) => provider).join(", "),
      state: nearestToLive(of).state,
    }));
}
