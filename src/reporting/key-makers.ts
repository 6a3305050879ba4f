// Who made which key (the actor of the line that its creation left in the audit log), and what a key did in a day.
import { sql as fragment } from "kysely";
import type { KeyDetail } from "../api/shapes/keys.ts";
import type { Credential } from "../domain/credential.ts";
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { type Clock, utcMonth } from "../lib/clock.ts";
import { exactTotal, exactUsd, from, magnitude, rowOf, rowsOf, when } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";

const DAY_MS = 86_400_000;
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

/** How many live keys each maker has in this organization, and what all of theirs spent this month; of one maker or all. */
export async function keysByMaker(
  { sql, clock }: { sql: Sql; clock: Clock },
  organizationId: string,
  maker?: string,
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
    .where((eb) =>
      eb.and([
        eb("api_key.org_id", "=", organizationId),
        ...when(maker, (id) => eb("audit_log.actor", "=", id)),
      ]),
    )
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

/** What the ledger compares: the playground spends by a key without its secret. Null when it is not of this one. */
export async function credentialOf(
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

/** A key's last 24 hours by model, and its open holds. */
export async function keyDay(
  { sql, clock }: { sql: Sql; clock: Clock },
  organizationId: string,
  keyId: string,
): Promise<Pick<KeyDetail, "last_day" | "open_holds">> {
  const query = from
    .selectFrom("request")
    .where("org_id", "=", organizationId)
    .where("request_id", ">=", sinceRequest(clock.nowMs() - DAY_MS))
    .where("key_id", "=", keyId)
    .groupBy("model")
    .select((eb) => [
      "model",
      eb.fn.countAll<bigint>().as("requests"),
      eb.fn.countAll<bigint>().filterWhere(stillRuns(sql)).as("running"),
      exactTotal(eb.ref("charge")).as("spent"),
    ])
    .orderBy((eb) => magnitude(eb.ref("charge")), "desc")
    .orderBy("model");
  const rows = await rowsOf(sql, query);
  return {
    last_day: rows.map(({ model, requests, spent }) => ({
      model,
      requests: Number(requests),
      charge_usd: formatUsd(exactUsd(spent)),
    })),
    open_holds: rows.reduce((sum, { running }) => sum + Number(running), 0),
  };
}
