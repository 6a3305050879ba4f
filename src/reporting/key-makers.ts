// Who made which key and in whose place (the line that its creation left in the audit log), and what a key did in a day.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { sql as fragment } from "kysely";
import type { KeyDetail } from "../api/shapes/keys.ts";
import type { Credential } from "../domain/credential.ts";
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { type Clock, utcMonth } from "../lib/clock.ts";
import { exact, exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, magnitude, rowOf, rowsOf } from "../store/query.ts";
import { type SqlDialect, inHundreds, numberOf, type Sql } from "../store/sql.ts";
import { hoursUsed } from "./hours-used.ts";

/** Written out: the index of these lines is a partial one. */
const KEY_CREATED = fragment.lit("key.create");

/**
 * By the key's id: who made it, a person's id, a management key's, or the gateway's own words. Keys that no line tells of
 * are not in it.
 */
export async function makersOf(sql: Sql, keyIds: readonly string[]): Promise<Map<string, string>> {
  const makers = new Map<string, string>();
  for (const some of inHundreds(keyIds)) {
    // By the index of these lines alone; of an organization's other lines there may be millions.
    const query = from
      .selectFrom("audit_log")
      .select(["target", "actor"])
      .where("action", "=", KEY_CREATED)
      .where("target", "in", some);
    for (const { target, actor } of await rowsOf(sql, query)) makers.set(target, actor);
  }
  return makers;
}

/** How many live keys each of these makers has in this organization, and what all of theirs spent this month. */
export async function keysByMaker(
  { sql, clock }: { sql: Sql; clock: Clock },
  organizationId: string,
  makers: readonly string[],
): Promise<Map<string, { live: number; monthSpend: NanoUsd }>> {
  const query = from
    .selectFrom("api_key")
    .innerJoin("audit_log", (join) =>
      join.onRef("audit_log.target", "=", "api_key.key_id").on("audit_log.action", "=", KEY_CREATED),
    )
    .leftJoin("key_month", (join) =>
      join
        .onRef("key_month.org_id", "=", "api_key.org_id")
        .onRef("key_month.key_id", "=", "api_key.key_id")
        .on("key_month.month", "=", utcMonth(clock.nowMs())),
    )
    .where("api_key.org_id", "=", organizationId)
    .where("audit_log.actor", "in", makers.length === 0 ? [""] : makers)
    .groupBy("audit_log.actor")
    .select((eb) => [
      "audit_log.actor",
      eb.fn.countAll<bigint>().as("all"),
      eb.fn.count<bigint>("api_key.revoked_at").filterWhere("api_key.paused_at", "is", null).as("revoked"),
      exactTotal(eb.ref("key_month.spent")).as("spent"),
    ]);
  const rows = await rowsOf(sql, query);
  return new Map(
    rows.map(({ actor, all, revoked, spent }) => [
      actor,
      { live: Number(all - revoked), monthSpend: exactUsd(spent) },
    ]),
  );
}

/** Who made an organization's keys: how many of each are live, and how many of those may be asked with now. */
export async function makersOfKeys(
  { sql, clock }: { sql: Sql; clock: Clock },
  organizationId: string,
): Promise<{ maker: string; live: number; active: number }[]> {
  const query = from
    .selectFrom("api_key")
    .innerJoin("audit_log", (join) =>
      join.onRef("audit_log.target", "=", "api_key.key_id").on("audit_log.action", "=", KEY_CREATED),
    )
    .where("api_key.org_id", "=", organizationId)
    .groupBy("audit_log.actor")
    .select((eb) => {
      const unended = eb("api_key.revoked_at", "is", null);
      const inTime = eb.or([
        eb("api_key.expires_at", "is", null),
        eb("api_key.expires_at", ">", BigInt(clock.nowMs())),
      ]);
      return [
        "audit_log.actor as maker",
        eb.fn
          .countAll<bigint>()
          .filterWhere(eb.or([unended, eb("api_key.paused_at", "is not", null)]))
          .as("live"),
        eb.fn
          .countAll<bigint>()
          .filterWhere(eb.and([unended, inTime]))
          .as("active"),
      ];
    });
  return (await rowsOf(sql, query)).map(({ maker, live, active }) => ({
    maker,
    live: Number(live),
    active: Number(active),
  }));
}

/** What the ledger compares: the playground spends by a key without its secret. Null when it is not of this one. */
export async function storedCredential(
  sql: Sql,
  organizationId: string,
  keyId: string,
): Promise<Credential | null> {
  const query = from
    .selectFrom("api_key")
    .select("digest")
    .where("org_id", "=", organizationId)
    .where("key_id", "=", keyId);
  const row = await rowOf(sql, query);
  return row === undefined ? null : { organizationId, keyId, digest: row.digest };
}

/** Of the few that run at all, by the index of those. */
const OPEN_HOLDS: Readonly<Record<SqlDialect, string>> = {
  sqlite: `SELECT count(*) AS holds FROM request INDEXED BY request_unfinished
    WHERE state = 'dispatched' AND deadline_at >= 0 AND org_id = ?1 AND key_id = ?2`,
  postgresql:
    "SELECT count(*) AS holds FROM request WHERE closed_txn IS NULL AND org_id = ?1 AND key_id = ?2",
};

/** What a key used in its last 24 hours by model, whole hours of the roll-ups, and its open holds. */
export async function keyDay(
  { sql, clock }: { sql: Sql; clock: Clock },
  organizationId: string,
  keyId: string,
): Promise<Pick<KeyDetail, "last_day" | "open_holds">> {
  const lastDay = { first: Math.floor((clock.nowMs() - DAY_MS) / HOUR_MS), keys: [keyId] };
  const query = hoursUsed(sql, organizationId, lastDay)
    .groupBy("model")
    .select((eb) => [
      "model",
      exactTotal(eb.ref("requests")).as("counted"),
      exactTotal(eb.ref("charge")).as("spent"),
    ])
    .orderBy((eb) => magnitude(eb.ref("charge")), "desc")
    .orderBy("model");
  const [open] = await sql.rows(OPEN_HOLDS[sql.dialect], organizationId, keyId);
  return {
    last_day: (await rowsOf(sql, query)).map(({ model, counted, spent }) => ({
      model,
      requests: Number(exact(counted)),
      charge_usd: formatUsd(exactUsd(spent)),
    })),
    open_holds: numberOf(open?.["holds"]),
  };
}

type Succession = Pick<KeyDetail, "replaces" | "replaced_by">;

/** The key whose place it took, and the newest one that took its place: as the lines of their creation tell. */
export async function successionOf(
  { sql }: { sql: Sql },
  organizationId: string,
  { id, created_at }: Pick<KeyDetail, "id" | "created_at">,
): Promise<Succession> {
  const ofOrganization = from
    .selectFrom("api_key")
    .innerJoin("audit_log", (join) =>
      join.onRef("audit_log.target", "=", "api_key.key_id").on("audit_log.action", "=", KEY_CREATED),
    )
    .where("api_key.org_id", "=", organizationId);
  const own = await rowOf(sql, ofOrganization.where("api_key.key_id", "=", id).select("value_after"));
  const [before] = await keysNamed(sql, organizationId, replacedIn(own?.value_after ?? null));
  const made = Date.parse(created_at);
  const after = await rowOf(
    sql,
    ofOrganization
      .where("api_key.created_at", ">=", BigInt(Number.isNaN(made) ? 0 : made))
      .where("value_after", "like", `%"replaces":"${id}"%`)
      .select(KEY_NAME)
      .orderBy("api_key.created_at", "desc")
      .limit(1),
  );
  return { replaces: before ?? null, replaced_by: after === undefined ? null : named(after) };
}

const KEY_NAME = ["api_key.key_id", "api_key.name", "api_key.last_four"] as const;

async function keysNamed(
  sql: Sql,
  organizationId: string,
  id: string | null,
): Promise<NonNullable<Succession["replaces"]>[]> {
  if (id === null) return [];
  const query = from
    .selectFrom("api_key")
    .where("org_id", "=", organizationId)
    .where("key_id", "=", id)
    .select(KEY_NAME);
  return (await rowsOf(sql, query)).map(named);
}

const named = (row: { key_id: string; name: string; last_four: string | null }) => ({
  id: row.key_id,
  name: row.name,
  last_four: row.last_four,
});

/** Of a damaged line nothing. */
const replacedIn = (after: string | null): string | null =>
  /"replaces":"(key_[0-9A-Za-z]+)"/.exec(after ?? "")?.[1] ?? null;
