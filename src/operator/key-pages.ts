// Pages of an organization's keys: their places from the store, and the states that only the ledger knows.
import type { KeyJson, KeysAsk } from "../api/shapes/keys.ts";
import { allows } from "../domain/allowed-models.ts";
import { FIRST_KEY, type KeyPlace, keyPlaces } from "../reporting/key-places.ts";
import { noCursor, readCursor } from "../reporting/cursors.ts";
import { pageOf } from "../store/page.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { type ListOf, printPage } from "./list.ts";

interface Ports {
  sql: Sql;
  /** Exactly these keys, in the given order. */
  named: (org: string, ids: readonly string[]) => Promise<KeyJson[]>;
}

interface Asked extends KeysAsk {
  /** Created by one of these people; default: by anybody. */
  makers?: readonly string[] | undefined;
  cursor: string | undefined;
  limit: number;
  order: "newest" | "oldest";
  nowMs: number;
}

const LOOKED_AT_ONCE = 500;

/**
 * A page of keys by their creation; states that depend on spend are evaluated key by key among the live ones.
 * Throws `Refusal` for a cursor that no page returned.
 */
export async function keysFound(
  { sql, named }: Ports,
  org: string,
  { cursor, limit, ...wanted }: Asked,
): Promise<ListOf<KeyJson>> {
  const found: { key: KeyJson; place: KeyPlace }[] = [];
  let after = cursor === undefined ? FIRST_KEY[wanted.order] : await placeIn(sql, org, cursor);
  // Few of many may match, so each batch is larger than the one before: a page of one key does not take as
  // many queries as there are keys.
  for (let most = limit + 1; found.length <= limit; most = Math.min(most * 2, LOOKED_AT_ONCE)) {
    const places = await keyPlaces(sql, org, { ...wanted, most, after });
    const placeOf = new Map(places.map((place) => [place.id, place]));
    for (const key of await named(org, [...placeOf.keys()])) {
      const place = placeOf.get(key.id);
      if (place !== undefined && fits(key, wanted)) found.push({ key, place });
    }
    const last = places.at(-1);
    if (places.length < most || last === undefined) break;
    after = last;
  }
  return printPage(
    pageOf(found, { limit }, ({ place }) => place),
    ({ key }) => key,
  );
}

/** The place behind which a page begins: that of a key of this organization, also of one whose id is damaged. */
async function placeIn(sql: Sql, org: string, cursor: string): Promise<KeyPlace> {
  const [, at, id = ""] = readCursor(cursor, PLACE);
  const query = from
    .selectFrom("api_key")
    .select("key_id")
    .where("org_id", "=", org)
    .where("key_id", "=", id);
  if ((await rowsOf(sql, query)).length === 0) throw noCursor();
  return { atMs: Number(at), id };
}
const PLACE = /^(\d{1,16})\.(.+)$/s;

/**
 * Checks what the places do not show: whether spend and holds have reached a limit, and exactly which models
 * are allowed.
 */
function fits({ blocked_by_limit, allowed_models }: KeyJson, { state, model }: KeysAsk): boolean {
  if (model !== undefined && !allows(allowed_models, model)) return false;
  return state === "active" ? !blocked_by_limit : state === "blocked_by_limit" ? blocked_by_limit : true;
}
