// What somebody wanted an entitlement for, and what the answer said: words beside the entitlement, which decides.
import type { Sql } from "../store/sql.ts";

/** `wantedUntilMs`: null for no end in particular. */
export async function noteWish(
  sql: Sql,
  entitlementId: string,
  { purpose, wantedUntilMs }: { purpose: string; wantedUntilMs: number | null },
): Promise<void> {
  await sql.rows(
    "INSERT INTO entitlement_note (entitlement_id, purpose, wanted_until) VALUES (?1, ?2, ?3)",
    entitlementId,
    purpose,
    wantedUntilMs,
  );
}

/** Of a request that did not come about. */
export async function dropNote(sql: Sql, entitlementId: string): Promise<void> {
  await sql.rows("DELETE FROM entitlement_note WHERE entitlement_id = ?1", entitlementId);
}

export interface EntitlementDecision {
  /** How a request ended that was never approved; null for one that was. */
  outcome: "declined" | "withdrawn" | null;
  /** The person. */
  decidedBy: string;
  note: string | null;
}

/** Requests of the command line have no words yet. */
export async function noteDecision(
  sql: Sql,
  entitlementId: string,
  { outcome, decidedBy, note }: EntitlementDecision,
): Promise<void> {
  await sql.rows(
    `INSERT INTO entitlement_note (entitlement_id, purpose, outcome, decided_by, note) VALUES (?1, '', ?2, ?3, ?4)
     ON CONFLICT (entitlement_id) DO UPDATE SET outcome = excluded.outcome, decided_by = excluded.decided_by,
       note = excluded.note`,
    entitlementId,
    outcome,
    decidedBy,
    note,
  );
}
