// What somebody wanted an entitlement for, and what the answer said: words beside the entitlement, which decides. Written in the
// transaction of what they speak of, so that neither is there without the other.
import { ask, type Query } from "../store/sql.ts";

export interface EntitlementWish {
  purpose: string;
  /** Null for no end in particular. */
  wantedUntilMs: number | null;
}

/** Inside the transaction that makes the request. */
export function* noteWish(entitlementId: string, { purpose, wantedUntilMs }: EntitlementWish): Query<void> {
  yield* ask("INSERT INTO entitlement_note (entitlement_id, purpose, wanted_until) VALUES (?1, ?2, ?3)", [
    entitlementId,
    purpose,
    wantedUntilMs,
  ]);
}

export interface EntitlementAnswer {
  /** How a request ended that was never approved; null for one that was. */
  outcome: "declined" | "withdrawn" | null;
  note: string | null;
}

/** Requests of the command line have no words yet. `decidedBy`: the person. */
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
