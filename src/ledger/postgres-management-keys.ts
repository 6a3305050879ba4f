// Management keys on PostgreSQL: digests only, compared in constant time (hardening.md S3).
import type { Actor } from "../contract/actor.ts";
import { isOpen, sameDigest } from "./decide-key.ts";
import type { Ledger, ManagementKeyRecord } from "./ledger.ts";
import { appendAuditLine } from "./postgres-audit-log.ts";
import { type Cell, bytes, int, intOrNull, text } from "./postgres-cell.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { printedValue } from "./sqlite-audit-log.ts";

type NewManagementKey = Parameters<Ledger["createManagementKey"]>[0];

const NO_DIGEST = new Uint8Array(32);

export async function createManagementKey(
  on: Asking,
  { id, name, prefix, digest, login, actor }: NewManagementKey & { actor: Actor },
  nowMs: number,
): Promise<ManagementKeyRecord> {
  const expiresAtMs = login === undefined ? null : nowMs + login.livesMs;
  await askOnce(
    on,
    `INSERT INTO management_key (id, name, prefix, digest, created_at, expires_at, login_of)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, name, prefix, Buffer.from(digest), nowMs, expiresAtMs, login?.personId ?? null],
  );
  const after = printedValue({ name, prefix });
  await log(on, id, { actor, action: "management_key.create", after, atMs: nowMs });
  return { id, name, prefix, createdAtMs: nowMs, expiresAtMs, revokedAtMs: null };
}

/** Null for unknown, wrong, revoked and expired alike. */
export async function authenticateManagementKey(
  on: Asking,
  { id, digest }: { id: string; digest: Uint8Array },
  nowMs: number,
): Promise<ManagementKeyRecord | null> {
  const row = await read(on, id, "");
  const matches = sameDigest(row === null ? NO_DIGEST : bytes(row[6]), digest);
  if (row === null || !matches) return null;
  const key = managementKeyOf(row);
  return isOpen(key, nowMs) ? key : null;
}

export async function revokeManagementKey(
  on: Asking,
  { id, actor }: { id: string; actor: Actor },
  nowMs: number,
): Promise<ManagementKeyRecord | null> {
  const row = await read(on, id, "FOR UPDATE");
  if (row === null) return null;
  const key = managementKeyOf(row);
  if (key.revokedAtMs !== null) return key;
  await askOnce(on, "UPDATE management_key SET revoked_at = $2 WHERE id = $1", [id, nowMs]);
  const after = printedValue({ revoked_at: new Date(nowMs).toISOString() });
  await log(on, id, { actor, action: "management_key.revoke", after, atMs: nowMs });
  return { ...key, revokedAtMs: nowMs };
}

async function read(on: Asking, id: string, lock: "FOR UPDATE" | ""): Promise<Cell[] | null> {
  const [row] = await askOnce(
    on,
    `SELECT id, name, prefix, created_at, expires_at, revoked_at, digest FROM management_key WHERE id = $1 ${lock}`,
    [id],
  );
  return row ?? null;
}

async function log(
  on: Asking,
  id: string,
  line: { actor: Actor; action: string; after: string; atMs: number },
): Promise<void> {
  await appendAuditLine(on, { ...line, organizationId: null, target: id, before: null });
}

const managementKeyOf = ([
  id,
  name,
  prefix,
  createdAt,
  expiresAt,
  revokedAt,
]: Cell[]): ManagementKeyRecord => ({
  id: text(id),
  name: text(name),
  prefix: text(prefix),
  createdAtMs: int(createdAt),
  expiresAtMs: intOrNull(expiresAt),
  revokedAtMs: intOrNull(revokedAt),
});
