// Research Mode entitlements: requested, approved until an instant, revoked, under their organization's lock.
// Expiry is not written: readers compare with the clock (specification 5.4).
import { DAY_MS } from "../domain/durations.ts";
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { printTime } from "../domain/print.ts";
import { lockOrganization, moveStamp } from "../ledger/balance.ts";
import type { Reader, Transactions, Work } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, numberOf, orNull, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { decideApproval, decideAsking, type TooManyRequests } from "./entitlement-rules.ts";
import { type EntitlementAnswer, type EntitlementWish, noteAnswer, noteWish } from "./entitlement-notes.ts";
import { personActing } from "./management-keys.ts";
import { makerOf, personBehind } from "./persons.ts";

export interface EntitlementRecord {
  id: string;
  organizationId: string;
  model: string;
  project: string;
  status: "requested" | "active" | "revoked" | "expired";
  requestedBy: string;
  /** The person behind `requestedBy` (`persons.ts`). */
  requester: string;
  approvedBy: string | null;
  createdAtMs: number;
  expiresAtMs: number | null;
}

/**
 * Null if there is no such organization. `wish`: the requester's own words; requests of the command line have
 * none.
 */
export const requestEntitlement = (
  on: Transactions,
  entitlement: { id: string; organizationId: string; model: string; project: string; wish?: EntitlementWish },
  actor: Actor,
): Promise<EntitlementRecord | TooManyRequests | null> =>
  on.change({ organizationId: entitlement.organizationId, by: actor.id }, function* (nowMs): Query<
    EntitlementRecord | TooManyRequests | null
  > {
    const { id, organizationId, model, project, wish } = entitlement;
    if ((yield* lockOrganization(organizationId)) === null) return null;
    const [asked] = yield* ask(ASKED, [organizationId, nowMs - DAY_MS]);
    const tooMany = decideAsking({
      open: numberOf(asked?.["open"]),
      ofTheDay: numberOf(asked?.["of_the_day"]),
    });
    if (tooMany !== null) return tooMany;
    yield* ask(
      `INSERT INTO entitlement (org_id, model, id, project, state, requested_by, created_at)
       VALUES (?1, ?2, ?3, ?4, 'requested', ?5, ?6)`,
      [organizationId, model, id, project, actor.id, nowMs],
    );
    if (wish !== undefined) yield* noteWish(id, wish);
    const after = { status: "requested", model, project };
    const note = { actor, action: "entitlement.request", organizationId, target: id, after };
    yield* appendAuditLine(note, nowMs);
    return yield* find(id, nowMs);
  });

const ASKED = `SELECT
  (SELECT count(*) FROM entitlement WHERE org_id = ?1 AND state = 'requested') AS open,
  (SELECT count(*) FROM entitlement WHERE org_id = ?1 AND created_at > ?2) AS of_the_day`;

export interface ApprovalTerms {
  expiresAtMs: number;
  /** The message to the requester; omitted if nobody is told anything. */
  note?: string | null;
}

/**
 * Approves a request, unless the person made it themselves. Null if there is no such entitlement; returns the
 * record unchanged if it is not `requested`.
 */
export const approveEntitlement = (
  on: Transactions,
  id: string,
  { expiresAtMs, note: words }: ApprovalTerms,
  actor: Actor,
): Promise<EntitlementRecord | "second_person_required" | null> =>
  changeOne(on, { id, actor }, function* (nowMs): Query<EntitlementRecord | "second_person_required" | null> {
    const { found } = yield* lockEntitlement(id, nowMs);
    if (found === null) return null;
    const decided = decideApproval(found, yield* personActing(actor.id));
    if (decided !== "approve") return decided === "not_requested" ? found : decided;
    const { organizationId } = found;
    yield* ask(
      `UPDATE entitlement SET state = 'active', approved_by = ?3, approved_at = ?4, expires_at = ?5
       WHERE org_id = ?1 AND id = ?2 AND state = 'requested'`,
      [organizationId, id, actor.id, nowMs, expiresAtMs],
    );
    if (words !== undefined) yield* noteAnswer(id, { outcome: null, note: words }, actor.id);
    // Requests admitted under it must not look older than its start (I15).
    yield* moveStamp(organizationId, nowMs);
    const before = { status: found.status };
    const after = { status: "active", expires_at: printTime(expiresAtMs) };
    const note = { actor, action: "entitlement.approve", organizationId, target: id, before, after };
    yield* appendAuditLine(note, nowMs);
    return yield* find(id, nowMs);
  });

/** In any state; null if there is no such entitlement. */
export const revokeEntitlement = async (
  on: Transactions,
  id: string,
  actor: Actor,
): Promise<EntitlementRecord | null> =>
  (await end(on, { id, actor, answer: null }, () => true))?.record ?? null;

/**
 * `ended`: whether this call ended it. Its note is stored only then, and does not overwrite an earlier one.
 */
type Ended = { record: EntitlementRecord; ended: boolean } | null;

/** The same, with a reason for the requester. */
export const endEntitlement = (
  on: Transactions,
  id: string,
  reason: string | null,
  actor: Actor,
): Promise<Ended> => end(on, { id, actor, answer: { outcome: null, note: reason } }, () => true);

/**
 * Ends a request only while it is undecided: withdrawing or declining must not end what has been approved
 * since. Null if there is no such entitlement; `ended: false` with the record unchanged in another state.
 */
export const closeRequest = (
  on: Transactions,
  id: string,
  answer: EntitlementAnswer,
  actor: Actor,
): Promise<Ended> => end(on, { id, actor, answer }, ({ status }) => status === "requested");

const end = (
  on: Transactions,
  by: { id: string; actor: Actor; answer: EntitlementAnswer | null },
  mayEnd: (found: EntitlementRecord) => boolean,
): Promise<Ended> =>
  changeOne(on, by, function* (nowMs): Query<Ended> {
    const { id, actor, answer } = by;
    const { found, stampedAtMs } = yield* lockEntitlement(id, nowMs);
    if (found === null) return null;
    if (found.status === "revoked" || !mayEnd(found)) return { record: found, ended: false };
    const { organizationId } = found;
    // Not before the newest stamp: requests admitted under it must not look older than its end (I15).
    yield* ask("UPDATE entitlement SET state = 'revoked', revoked_at = ?3 WHERE org_id = ?1 AND id = ?2", [
      organizationId,
      id,
      Math.max(nowMs, stampedAtMs),
    ]);
    if (answer !== null) yield* noteAnswer(id, answer, actor.id);
    const [before, after] = [{ status: found.status }, { status: "revoked" }];
    const note = { actor, action: "entitlement.revoke", organizationId, target: id, before, after };
    yield* appendAuditLine(note, nowMs);
    if (answer !== null && answer.outcome !== null)
      yield* appendAuditLine(howItEnded(note, { ...answer, outcome: answer.outcome }), nowMs);
    return { record: { ...found, status: "revoked" }, ended: true };
  });

/** The audit line of a request that was never approved, in addition to the line of its end. */
const howItEnded = (
  { actor, organizationId, target }: AuditNote,
  { outcome, note: reason }: { outcome: "declined" | "withdrawn"; note: string | null },
): AuditNote => ({
  actor,
  organizationId,
  target,
  action: outcome === "declined" ? "entitlement.decline" : "entitlement.withdraw",
  after: reason === null ? null : { reason },
});

/** An entitlement of any organization; null if there is none. */
export const findEntitlement = (on: Reader, id: string): Promise<EntitlementRecord | null> =>
  on.read((nowMs) => find(id, nowMs));

/** The entitlements that open a model to the organization now, in the order of the requests. */
export const activeEntitlements = (on: Reader, organizationId: string): Promise<EntitlementRecord[]> =>
  on.read((nowMs) =>
    list("WHERE org_id = ?1 AND state = 'active' AND expires_at > ?2", [organizationId, nowMs], nowMs),
  );

/** Rows for `entitlementIn`. */
export const SELECT_ENTITLEMENT = `SELECT id, org_id, model, project, state, requested_by, approved_by, created_at, expires_at,
  ${makerOf("entitlement.requested_by")} AS maker FROM entitlement`;

function* find(id: string, nowMs: number): Query<EntitlementRecord | null> {
  const [row] = yield* ask(`${SELECT_ENTITLEMENT} WHERE id = ?1`, [id]);
  return row === undefined ? null : entitlementIn(row, nowMs);
}

function* list(
  where: string,
  values: readonly (string | number)[],
  nowMs: number,
): Query<EntitlementRecord[]> {
  const rows = yield* ask(`${SELECT_ENTITLEMENT} ${where}`, values);
  return rows
    .map((row) => entitlementIn(row, nowMs))
    .toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/** Runs a change serialized with the others of its organization. */
async function changeOne<T>(
  on: Transactions,
  { id, actor }: { id: string; actor: Actor },
  work: Work<T>,
): Promise<T> {
  const organizationId = await on.read(() => ownerOf(id));
  return await on.change(organizationId === null ? null : { organizationId, by: actor.id }, work);
}

/** The entitlement's organization; null if there is no such entitlement. */
function* ownerOf(id: string): Query<string | null> {
  const [row] = yield* ask("SELECT org_id FROM entitlement WHERE id = ?1", [id]);
  return row === undefined ? null : textOf(row["org_id"]);
}

/** The entitlement as read under its organization's lock, with the organization's newest stamp. */
function* lockEntitlement(
  id: string,
  nowMs: number,
): Query<{ found: EntitlementRecord | null; stampedAtMs: number }> {
  const organizationId = yield* ownerOf(id);
  if (organizationId === null) return { found: null, stampedAtMs: 0 };
  const stampedAtMs = (yield* lockOrganization(organizationId)) ?? 0;
  return { found: yield* find(id, nowMs), stampedAtMs };
}

/** A row of `SELECT_ENTITLEMENT`. */
export function entitlementIn(row: SqlRow, nowMs: number): EntitlementRecord {
  const [state, requestedBy] = [textOf(row["state"]), textOf(row["requested_by"])];
  const expiresAtMs = orNull(row["expires_at"], numberOf);
  const expired = state === "active" && expiresAtMs !== null && nowMs >= expiresAtMs;
  return {
    id: textOf(row["id"]),
    organizationId: textOf(row["org_id"]),
    model: textOf(row["model"]),
    project: textOf(row["project"]),
    status: expired ? "expired" : (state as EntitlementRecord["status"]),
    requestedBy,
    requester: personBehind(requestedBy, orNull(row["maker"], textOf)),
    approvedBy: orNull(row["approved_by"], textOf),
    createdAtMs: numberOf(row["created_at"]),
    expiresAtMs,
  };
}
