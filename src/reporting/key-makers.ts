// Who created which key, and which key it replaced (from the audit line of its creation), and a key's usage
// in a day.
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

/** A literal, because the index of these lines is partial. */
const KEY_CREATED = fragment.lit("key.create");

/**
 * The creator of each key, by key id: a person's id, a management key's, or the gateway's own name. Keys
 * without an audit line have no entry.
 */
export async function makersOf(sql: Sql, keyIds: readonly string[]): Promise<Map<string, string>> {
  const makers = new Map<string, string>();
  for (const some of inHundreds(keyIds)) {
    // Uses the index of only these lines; an organization may have millions of others.
    const query = from
      .selectFrom("audit_log")
      .select(["target", "actor"])
      .where("action", "=", KEY_CREATED)
      .where("target", "in", some);
    for (const { target, actor } of await rowsOf(sql, query)) makers.set(target, actor);
  }
  return makers;
}

/**
 * How many live keys each of these people has in this organization, and what all of their keys spent this
 * month.
 */
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

/**
 * The creators of an organization's keys: how many of each one's keys are live, and how many of those can
 * make requests now.
 */
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

/**
 * The data that the ledger compares: the playground spends by a key without its secret. Null if the key
 * belongs to another organization.
 */
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

/** Uses the index of running requests, which are few. */
const OPEN_HOLDS: Readonly<Record<SqlDialect, string>> = {
  sqlite: `SELECT count(*) AS holds FROM request INDEXED BY request_unfinished
    WHERE state = 'dispatched' AND deadline_at >= 0 AND org_id = ?1 AND key_id = ?2`,
  postgresql:
    "SELECT count(*) AS holds FROM request WHERE closed_txn IS NULL AND org_id = ?1 AND key_id = ?2",
};

/** A key's usage in its last 24 hours by model, in whole hours of the roll-ups, and its open holds. */
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

/** The key that it replaced, and the newest key that replaced it, from the audit lines of their creation. */
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

/** Null for a damaged line. */
const replacedIn = (after: string | null): string | null =>
  /"replaces":"(key_[0-9A-Za-z]+)"/.exec(after ?? "")?.[1] ?? null;
