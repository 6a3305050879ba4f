// Unfinished requests that have no owner any more: whose instance is evicted, or who passed their time by so much that
// their owner has given up (money.md §9).
import type { Unowned } from "../recovery.ts";
import { int, text } from "../cell.ts";
import { ORPHANS_AT_ONCE } from "../upkeep-pace.ts";
import { type Asking, askOnce } from "./query.ts";

/** An owner ends its request at its deadline; one that has not by then, and waits for no commit, never will. */
const OWN_LATE_MS = 60_000;
/** Long enough for any owner elsewhere to be told, and to ask a provider what became of it. */
const FOREIGN_LATE_MS = 15 * 60_000;

export interface UnownedPorts {
  /** Numbers of this process. */
  own: readonly number[];
  /** As `SteadyClock` tells it. */
  nowMs: number;
}

/** Some of them, those in quarantine left out: the others must not wait behind them. */
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
