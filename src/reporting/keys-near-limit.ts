// Finds the keys near a limit: those whose month is at about nine tenths of its limit, and those with daily
// or weekly limits, whose state only their records show. Of thousands of keys with room, none is read.
import { sql as fragment } from "kysely";
import type { Reader } from "../ledger/ledger.ts";
import { type Clock, utcMonth } from "../lib/clock.ts";
import { type KeyRecord, keysNamed } from "../registry/api-keys.ts";
import { from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";

/**
 * Compares a quarter of spend and holds with a quarter of nine tenths of the limit, rounded towards a match,
 * so that no sum overflows its column; `limitStanding` decides about the matches.
 */
const NEAR = fragment<boolean>`coalesce(spent, 0) / 4 + coalesce(held, 0) / 4 + 2 >= limit_nano / 40 * 9`;

/** Active keys of the organization, or only the given one, oldest first. */
export async function keysNearLimit(
  on: { sql: Sql; ledger: Reader; clock: Clock },
  organizationId: string,
  only?: string,
): Promise<KeyRecord[]> {
  const query = from
    .selectFrom("api_key")
    .leftJoin("key_month", (join) =>
      join
        .onRef("key_month.org_id", "=", "api_key.org_id")
        .onRef("key_month.key_id", "=", "api_key.key_id")
        // The ledger's month may be ahead of the clock's.
        .on("key_month.month", ">=", utcMonth(on.clock.nowMs())),
    )
    .where((eb) =>
      eb.and([
        eb("api_key.org_id", "=", organizationId),
        eb("revoked_at", "is", null),
        ...when(only, (id) => eb("api_key.key_id", "=", id)),
        eb.or([eb("day_limit_nano", "is not", null), eb("week_limit_nano", "is not", null), NEAR]),
      ]),
    )
    .select("api_key.key_id")
    .orderBy("created_at")
    .orderBy("api_key.key_id");
  const ids = (await rowsOf(on.sql, query)).map(({ key_id }) => key_id);
  return await keysNamed(on.ledger, organizationId, [...new Set(ids)]);
}

/** Whether the organization has ever had a key, and whether one was ever used. */
export async function keySteps(
  sql: Sql,
  organizationId: string,
): Promise<{ key: boolean; first_request: boolean }> {
  const any = async (table: "api_key" | "key_month"): Promise<boolean> => {
    const query = from.selectFrom(table).select("key_id").where("org_id", "=", organizationId).limit(1);
    return (await rowsOf(sql, query)).length > 0;
  };
  return { key: await any("api_key"), first_request: await any("key_month") };
}
