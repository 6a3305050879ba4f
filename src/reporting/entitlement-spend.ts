// The spend under an entitlement: charges of its model for requests admitted from its approval until its end.
// Whole hours come from the roll-ups, the hours in which it begins and ends from the requests themselves.
import { HOUR_MS } from "../domain/durations.ts";
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf, theRow } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import { hoursUsed } from "./hours-used.ts";
import { idsAround } from "./request-time.ts";

interface Approved {
  org_id: string;
  model: string;
  fromMs: number;
  /** Infinity while it is active. */
  toMs: number;
}

/** By entitlement id; an entitlement that was never approved has no entry. */
export async function spendsOf(sql: Sql, ids: readonly string[]): Promise<Map<string, NanoUsd>> {
  const spends = new Map<string, NanoUsd>();
  for (const some of inHundreds(ids)) {
    const query = from
      .selectFrom("entitlement")
      .select(["id", "org_id", "model", "approved_at", "revoked_at", "expires_at"])
      .where("id", "in", some)
      .where("approved_at", "is not", null);
    for (const { id, org_id, model, approved_at, revoked_at, expires_at } of await rowsOf(sql, query)) {
      const toMs = Math.min(endOf(revoked_at), endOf(expires_at));
      const fromMs = withinTime(Number(approved_at));
      spends.set(id, await spendOf(sql, { org_id, model, fromMs, toMs }));
    }
  }
  return spends;
}

const endOf = (ms: bigint | null): number =>
  ms === null ? Number.POSITIVE_INFINITY : withinTime(Number(ms));

const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** Damaged times count as the beginning or end of all time. */
const withinTime = (ms: number): number => Math.min(Math.max(ms, 0), LAST_MS);

async function spendOf(sql: Sql, approved: Approved): Promise<NanoUsd> {
  const { fromMs, toMs } = approved;
  const [firstWhole, lastWhole] = [Math.ceil(fromMs / HOUR_MS), Math.floor(toMs / HOUR_MS)];
  if (lastWhole <= firstWhole) return await ofRequests(sql, approved);
  const ends = { ...approved, fromMs: lastWhole * HOUR_MS };
  return nanoUsd(
    (await ofRequests(sql, { ...approved, toMs: firstWhole * HOUR_MS })) +
      (await ofHours(sql, approved, { first: firstWhole, after: lastWhole })) +
      (Number.isFinite(toMs) ? await ofRequests(sql, ends) : 0n),
  );
}

async function ofHours(
  sql: Sql,
  { org_id, model }: Approved,
  { first, after }: { first: number; after: number },
): Promise<NanoUsd> {
  const part = { first, behind: Number.isFinite(after) ? after : undefined, model };
  const query = hoursUsed(sql, org_id, part).select((eb) => exactTotal(eb.ref("charge")).as("charge"));
  return exactUsd((await theRow(sql, query)).charge);
}

async function ofRequests(sql: Sql, { org_id, model, fromMs, toMs }: Approved): Promise<NanoUsd> {
  const ids = idsAround({ fromMs, toMs });
  const query = from
    .selectFrom("request")
    .select((eb) => exactTotal(eb.ref("charge")).as("charge"))
    .where((eb) => eb.and({ org_id, model, state: "settled" }))
    .where("request_id", ">=", ids.from)
    .where("request_id", "<", ids.to)
    .where("admitted_at", ">=", BigInt(fromMs))
    .$if(Number.isFinite(toMs), (requests) => requests.where("admitted_at", "<", BigInt(toMs)));
  return exactUsd((await theRow(sql, query)).charge);
}
