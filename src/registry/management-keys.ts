// Management keys: like API keys, stored as digests only and compared in constant time (hardening.md S3).
import type { Actor } from "../domain/actor.ts";
import { printTime } from "../domain/print.ts";
import { provesDigest } from "../domain/digest.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import {
  ask,
  bytesOf,
  lock,
  numberOf,
  orNull,
  type Query,
  type SqlRow,
  type Statement,
  statement,
  textOf,
} from "../store/sql.ts";
import { MAKER, makerOf, ownerBy, personBehind } from "./persons.ts";

export interface ManagementKeyRecord {
  id: string;
  name: string;
  prefix: string;
  /** The person who owns it, or the installation (`persons.ts`). */
  owner: string;
  createdAtMs: number;
  /** Null for a key that works until it is revoked. */
  expiresAtMs: number | null;
  revokedAtMs: number | null;
}

export interface NewManagementKey {
  id: string;
  name: string;
  prefix: string;
  digest: Uint8Array;
  /** It expires after this time, unless renewed. */
  livesMs?: number;
  /** The person whose command line signed in with it. */
  loginOf?: string;
}

/** Authenticates management keys. */
export interface ManagementKeyDoor {
  /** Null for unknown, wrong, revoked and expired keys alike. */
  authenticateManagementKey(id: string, digest: Uint8Array): Promise<ManagementKeyRecord | null>;
}

/** Creates a key and its audit line in one transaction. Without `livesMs` it works until it is revoked. */
export const createManagementKey = (
  on: Transactions,
  { id, name, prefix, digest, livesMs, loginOf }: NewManagementKey,
  actor: Actor,
): Promise<ManagementKeyRecord> =>
  on.change(null, function* (nowMs) {
    const expiresAtMs = livesMs === undefined ? null : nowMs + livesMs;
    const personId = loginOf ?? null;
    yield* ask(
      `INSERT INTO management_key (id, name, prefix, digest, created_at, expires_at, login_of)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
      [id, name, prefix, digest, nowMs, expiresAtMs, personId],
    );
    const made = { action: "management_key.create", after: { name, prefix } };
    yield* appendAuditLine({ actor, organizationId: null, target: id, ...made }, nowMs);
    const owner = ownerBy(personId ?? actor.id);
    return { id, name, prefix, owner, createdAtMs: nowMs, expiresAtMs, revokedAtMs: null };
  });

/** Null for unknown, wrong, revoked and expired keys alike. */
export const authenticateManagementKey = (
  on: Reader,
  id: string,
  digest: Uint8Array,
): Promise<ManagementKeyRecord | null> =>
  on.read(function* (nowMs) {
    const [row] = yield* ask(SELECT, [id]);
    const matches = provesDigest(row && bytesOf(row["digest"]), digest);
    if (row === undefined || !matches) return null;
    const key = managementKeyOf(row);
    return isOpen(key, nowMs) ? key : null;
  });

/** Null for unknown, revoked and expired keys. */
export const ownerOfManagementKey = (on: Reader, id: string): Promise<string | null> =>
  on.read(function* (nowMs) {
    const [row] = yield* ask(SELECT, [id]);
    const key = row === undefined ? null : managementKeyOf(row);
    return key !== null && isOpen(key, nowMs) ? key.owner : null;
  });

/** Null if there is no such key; revoking twice keeps the first instant. */
export const revokeManagementKey = (
  on: Transactions,
  id: string,
  actor: Actor,
): Promise<ManagementKeyRecord | null> =>
  on.change(null, function* (nowMs) {
    const [row] = yield* lock(SELECT, [id]);
    const key = row === undefined ? null : managementKeyOf(row);
    if (key === null || key.revokedAtMs !== null) return key;
    yield* ask("UPDATE management_key SET revoked_at = ?2 WHERE id = ?1", [id, nowMs]);
    const after = { revoked_at: printTime(nowMs) };
    const note = { actor, action: "management_key.revoke", organizationId: null, target: id, after };
    yield* appendAuditLine(note, nowMs);
    return { ...key, revokedAtMs: nowMs };
  });

/** Sets the expiry to `livesMs` from now, even if the key has expired; a revoked key stays revoked. */
export const renewManagementKey = (on: Transactions, id: string, livesMs: number): Promise<void> =>
  on.change(null, function* (nowMs) {
    yield* ask(
      "UPDATE management_key SET expires_at = ?2 WHERE id = ?1 AND revoked_at IS NULL AND expires_at IS NOT NULL",
      [id, nowMs + livesMs],
    );
  });

/** Records the last use; written at most once per `everyMs`, across all gateways. */
export const managementKeyUsed = (
  id: string,
  { atMs, everyMs }: { atMs: number; everyMs: number },
): Statement =>
  statement(
    `UPDATE management_key SET last_used_at = ?2
     WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)`,
    id,
    atMs,
    atMs - everyMs,
  );

/** The person behind an actor. */
export function* personActing(actorId: string): Query<string> {
  const [row] = yield* ask(`SELECT ${makerOf("?1")} AS maker`, [actorId]);
  return personBehind(actorId, orNull(row?.["maker"], textOf));
}

/** Neither revoked nor past its end. */
export const isOpen = (
  { expiresAtMs, revokedAtMs }: Pick<ManagementKeyRecord, "expiresAtMs" | "revokedAtMs">,
  nowMs: number,
): boolean => revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs);

const SELECT = `SELECT id, name, prefix, created_at, expires_at, revoked_at, digest, ${MAKER} AS maker
  FROM management_key WHERE id = ?1`;

const managementKeyOf = (row: SqlRow): ManagementKeyRecord => ({
  id: textOf(row["id"]),
  name: textOf(row["name"]),
  prefix: textOf(row["prefix"]),
  owner: ownerBy(orNull(row["maker"], textOf)),
  createdAtMs: numberOf(row["created_at"]),
  expiresAtMs: orNull(row["expires_at"], numberOf),
  revokedAtMs: orNull(row["revoked_at"], numberOf),
});
