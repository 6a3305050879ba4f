// A key under the lock of its organization: the start of every change of a key, and the audit line at its end
// (money.md §10).
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { lockOrganization } from "../ledger/balance.ts";
import type { Reader, Transactions, Work } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, type Query, textOf } from "../store/sql.ts";
import { type KeyRecord, readKey } from "./key-record.ts";

export interface LockedKey {
  key: KeyRecord;
  /** The organization's newest stamp. */
  stampedAtMs: number;
  /** It is ended in the store, too. */
  ended: boolean;
}

/** The key as read under its organization's lock. */
export function* lockKey(keyId: string, nowMs: number): Query<LockedKey | null> {
  const organizationId = yield* organizationOfKey(keyId);
  const stampedAtMs = organizationId === null ? null : yield* lockOrganization(organizationId);
  if (organizationId === null || stampedAtMs === null) return null;
  const found = yield* readKey({ organizationId, keyId }, nowMs);
  return found === null ? null : { key: found.key, stampedAtMs, ended: found.row["revoked_at"] !== null };
}

/** The key's organization; null if there is no such key. */
export const ownerOfKey = (on: Reader, keyId: string): Promise<string | null> =>
  on.read(() => organizationOfKey(keyId));

/** Runs a change serialized with the others of its organization. */
export async function changeKeyInLine<T>(
  on: Transactions,
  { keyId, actor }: { keyId: string; actor: Actor },
  work: Work<T>,
): Promise<T> {
  const organizationId = await ownerOfKey(on, keyId);
  return await on.change(organizationId === null ? null : { organizationId, by: actor.id }, work);
}

/** Null if there is no such key. */
export function* organizationOfKey(keyId: string): Query<string | null> {
  const [row] = yield* ask("SELECT org_id FROM api_key WHERE key_id = ?1", [keyId]);
  return row === undefined ? null : textOf(row["org_id"]);
}

/** Revoked or expired; both are final. */
export const isOver = ({ state }: KeyRecord): boolean => state === "revoked" || state === "expired";

/** Writes the change's audit line. */
export const tellOfKey = (
  { organizationId, id }: KeyRecord,
  line: Pick<AuditNote, "actor" | "action" | "before" | "after">,
  nowMs: number,
): Query<void> => appendAuditLine({ organizationId, target: id, ...line }, nowMs);
