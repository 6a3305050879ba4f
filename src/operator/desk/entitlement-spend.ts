// What was spent under an entitlement: charges of its model by requests that were admitted from its approval until its
// end. Whole hours come from the roll-ups, the hours in which it begins and ends from the requests themselves.
import { type NanoUsd, nanoUsd } from "../../contract/money.ts";
import { moneyOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { Conditions } from "./conditions.ts";
import { sinceRequest } from "./request-time.ts";

const HOUR_MS = 3_600_000;
/** An id is given when a request arrives, its time is that of its admission: a little later. */
const ADMITTED_WITHIN_MS = HOUR_MS;

interface Approved {
  id: string;
  organizationId: string;
  model: string;
  fromMs: number;
  /** Infinity while it opens its model. */
  toMs: number;
}

type Span = Pick<Approved, "fromMs" | "toMs">;

/** By the entitlement's id; one that was never approved has none. */
export async function spendsOf(sql: Sql, ids: ReadonlySet<string>): Promise<Map<string, NanoUsd>> {
  const rows = await sql.rows(
    `SELECT id, org_id, model, approved_at, revoked_at, expires_at FROM entitlement WHERE approved_at IS NOT NULL`,
  );
  const spends = new Map<string, NanoUsd>();
  for (const approved of rows.map(approvedOf).filter(({ id }) => ids.has(id)))
    spends.set(approved.id, await spendOf(sql, approved));
  return spends;
}

const approvedOf = (row: SqlRow): Approved => ({
  id: textOf(row["id"]),
  organizationId: textOf(row["org_id"]),
  model: textOf(row["model"]),
  fromMs: numberOf(row["approved_at"]),
  toMs: Math.min(
    orNull(row["revoked_at"], numberOf) ?? Number.POSITIVE_INFINITY,
    orNull(row["expires_at"], numberOf) ?? Number.POSITIVE_INFINITY,
  ),
});

async function spendOf(sql: Sql, approved: Approved): Promise<NanoUsd> {
  const { fromMs, toMs } = approved;
  const [firstWhole, lastWhole] = [Math.ceil(fromMs / HOUR_MS), Math.floor(toMs / HOUR_MS)];
  if (lastWhole <= firstWhole) return await ofRequests(sql, approved, { fromMs, toMs });
  const begins = { fromMs, toMs: firstWhole * HOUR_MS };
  const ends = { fromMs: lastWhole * HOUR_MS, toMs };
  return nanoUsd(
    (await ofRequests(sql, approved, begins)) +
      (await ofHours(sql, approved, { first: firstWhole, after: lastWhole })) +
      (Number.isFinite(toMs) ? await ofRequests(sql, approved, ends) : 0n),
  );
}

async function ofHours(
  sql: Sql,
  { organizationId, model }: Approved,
  { first, after }: { first: number; after: number },
): Promise<NanoUsd> {
  const conditions = new Conditions()
    .and("org_id = ?", organizationId)
    .and("model = ?", model)
    .and("hour >= ?", first)
    .and("hour < ?", Number.isFinite(after) ? after : undefined);
  return await chargesIn(sql, "usage_hour", conditions);
}

async function ofRequests(
  sql: Sql,
  { organizationId, model }: Approved,
  { fromMs, toMs }: Span,
): Promise<NanoUsd> {
  const conditions = new Conditions()
    .and("org_id = ?", organizationId)
    .and("request_id >= ?", sinceRequest(fromMs - ADMITTED_WITHIN_MS))
    .and("request_id < ?", sinceRequest(toMs + ADMITTED_WITHIN_MS))
    .and("model = ?", model)
    .and("admitted_at >= ?", fromMs)
    .and("admitted_at < ?", toMs)
    .also("state = 'settled'");
  return await chargesIn(sql, "request", conditions);
}

async function chargesIn(
  sql: Sql,
  table: "request" | "usage_hour",
  { where, values }: Conditions,
): Promise<NanoUsd> {
  const [row] = await sql.rows(`SELECT COALESCE(sum(charge), 0) AS charge FROM ${table} ${where}`, ...values);
  return moneyOf(row?.["charge"] ?? 0);
}
