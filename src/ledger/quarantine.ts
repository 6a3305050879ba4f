// The quarantine: which requests wait for an operator, and why. Nothing here reads data that may be damaged.
import { byItself } from "../domain/actor.ts";
import type { NanoUsd } from "../domain/money.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, moneyOf, numberOf, type Query, type SqlValue, textOf } from "../store/sql.ts";
import type { Reader, Transactions } from "./ledger.ts";

/** A request that could not be ended: its hold stays until an operator decides. */
export interface QuarantinedRecord {
  organizationId: string;
  requestId: string;
  keyId: string;
  model: string;
  hold: NanoUsd;
  admittedAtMs: number;
  /** Why its end could not be decided. */
  reason: string;
  sinceMs: number;
}

/** A page of them, oldest first: at most `limit` after a place. */
interface QuarantinePage {
  after: { atMs: number; id: string };
  limit: number;
}
const ALL: QuarantinePage = { after: { atMs: -1, id: "" }, limit: Number.MAX_SAFE_INTEGER };

const REASON_AT_MOST = 400;
/** The actor in the audit log for requests put in quarantine. */
const RECOVERY = "recovery";

/**
 * Does nothing for a request that does not exist or has ended. Applies once per request, whichever
 * gateway is first: the first reason stays.
 */
export const putInQuarantine = (
  on: Transactions,
  { organizationId, requestId }: { organizationId: string; requestId: string },
  why: string,
): Promise<void> =>
  on.change(null, function* (nowMs) {
    const reason = why.slice(0, REASON_AT_MOST);
    const [added] = yield* ask(
      `INSERT INTO quarantine (org_id, request_id, reason, since)
       SELECT org_id, request_id, CAST(?3 AS text), CAST(?4 AS bigint) FROM request
       WHERE org_id = ?1 AND request_id = ?2 AND closed_txn IS NULL
       ON CONFLICT DO NOTHING RETURNING request_id`,
      [organizationId, requestId, reason, nowMs],
    );
    if (added === undefined) return;
    const note = { actor: byItself(RECOVERY), action: "request.quarantine", after: { reason } };
    yield* appendAuditLine({ ...note, organizationId, target: requestId }, nowMs);
  });

/** Returns requests in quarantine, oldest first; all of them without a page. */
export const quarantined = (
  on: Reader,
  { after, limit }: QuarantinePage = ALL,
): Promise<QuarantinedRecord[]> =>
  on.read(() =>
    read("(q.since, q.request_id) > (?1, ?2) ORDER BY q.since, q.request_id LIMIT ?3", [
      after.atMs,
      after.id,
      limit,
    ]),
  );

/** Returns null if the request is not in quarantine. */
export const findQuarantined = (on: Reader, requestId: string): Promise<QuarantinedRecord | null> =>
  on.read(function* () {
    return (yield* read("q.request_id = ?1", [requestId]))[0] ?? null;
  });

/** Returns how many requests wait for an operator now. */
export const countQuarantined = (on: Reader): Promise<number> =>
  on.read(function* () {
    const [row] = yield* ask(`SELECT count(*) AS requests ${OPEN}`);
    return numberOf(row?.["requests"]);
  });

const OPEN = `FROM quarantine q JOIN request r ON r.org_id = q.org_id AND r.request_id = q.request_id
  WHERE q.decided_at IS NULL AND r.closed_txn IS NULL`;

function* read(which: string, values: readonly SqlValue[]): Query<QuarantinedRecord[]> {
  const rows = yield* ask(
    `SELECT q.org_id, q.request_id, r.key_id, r.model, r.hold, r.admitted_at, q.reason, q.since
     ${OPEN} AND ${which}`,
    values,
  );
  return rows.map((row) => ({
    organizationId: textOf(row["org_id"]),
    requestId: textOf(row["request_id"]),
    keyId: textOf(row["key_id"]),
    model: textOf(row["model"]),
    hold: moneyOf(row["hold"]),
    admittedAtMs: numberOf(row["admitted_at"]),
    reason: textOf(row["reason"]),
    sinceMs: numberOf(row["since"]),
  }));
}
