// Why somebody wanted an entitlement, and what the answer said: texts next to the entitlement, which alone
// decides. Written in the transaction of the request or decision, so that neither exists without the other.
import { ask, type Query } from "../store/sql.ts";

export interface EntitlementWish {
  purpose: string;
  /** Null for no particular end. */
  wantedUntilMs: number | null;
}

/** Must run in the transaction that creates the request. */
export function* noteWish(entitlementId: string, { purpose, wantedUntilMs }: EntitlementWish): Query<void> {
  yield* ask("INSERT INTO entitlement_note (entitlement_id, purpose, wanted_until) VALUES (?1, ?2, ?3)", [
    entitlementId,
    purpose,
    wantedUntilMs,
  ]);
}

export interface EntitlementAnswer {
  /** How a request that was never approved ended; null for one that was approved. */
  outcome: "declined" | "withdrawn" | null;
  note: string | null;
}

/** Requests of the command line have no row yet. `decidedBy` is the person. */
export function* noteAnswer(
  entitlementId: string,
  { outcome, note }: EntitlementAnswer,
  decidedBy: string,
): Query<void> {
  yield* ask(
    `INSERT INTO entitlement_note (entitlement_id, purpose, outcome, decided_by, note) VALUES (?1, '', ?2, ?3, ?4)
     ON CONFLICT (entitlement_id) DO UPDATE SET outcome = excluded.outcome, decided_by = excluded.decided_by,
       note = excluded.note`,
    [entitlementId, outcome, decidedBy, note],
  );
}
