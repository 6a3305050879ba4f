// Finds unfinished requests without an owner: their instance is evicted, or they are so far past their
// deadline that the owner has given up (money.md §9).
import type { Unowned } from "../recovery.ts";
import { int, text } from "../cell.ts";
import { ORPHANS_AT_ONCE } from "../upkeep-pace.ts";
import { type Asking, askOnce } from "./query.ts";

/** An owner ends its request at its deadline; one that has not done so by now, and is not waiting for a commit, never will. */
const OWN_LATE_MS = 60_000;
/** Long enough for any other owner to get its answer and to ask a provider for the outcome. */
const FOREIGN_LATE_MS = 15 * 60_000;

export interface UnownedPorts {
  /** Epochs of this process. */
  own: readonly number[];
  /** The time from `SteadyClock`. */
  nowMs: number;
}

/** Returns some of them, without those in quarantine, so that the others need not wait behind them. */
export async function findUnowned(on: Asking, { own, nowMs }: UnownedPorts): Promise<Unowned[]> {
  const rows = await askOnce(
    on,
    `SELECT org_id, request_id, epoch, admitted_at, state FROM request
     WHERE closed_txn IS NULL AND (
       NOT EXISTS (SELECT 1 FROM instance i WHERE i.epoch = request.epoch AND NOT i.condemned)
       OR deadline_at < (CASE WHEN epoch = ANY($1::bigint[]) THEN $2::bigint ELSE $3::bigint END))
       AND NOT EXISTS (SELECT 1 FROM quarantine q
         WHERE q.org_id = request.org_id AND q.request_id = request.request_id AND q.decided_at IS NULL)
     LIMIT ${ORPHANS_AT_ONCE}`,
    [own, nowMs - OWN_LATE_MS, nowMs - FOREIGN_LATE_MS],
  );
  return rows.map(([organizationId, requestId, epoch, admittedAt, state]) => ({
    organizationId: text(organizationId),
    requestId: text(requestId),
    epoch: int(epoch),
    admittedAtMs: int(admittedAt),
    dispatched: state === "dispatched",
  }));
}
