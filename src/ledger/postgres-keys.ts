// API keys on PostgreSQL: made, edited, revoked for good, each under the lock of its organization, so that what has
// returned holds for every request that starts afterwards, on every gateway (money.md §10).
import type { Actor } from "../contract/actor.ts";
import type { Tier } from "../contract/gateway-object.ts";
import { ZERO_USD, formatUsd } from "../contract/money.ts";
import { utcMonth } from "../lib/clock.ts";
import { editKey, type KeyEdit } from "./key-edit.ts";
import type { KeyRecord, Ledger } from "./ledger.ts";
import { appendAuditLine } from "./postgres-audit-log.ts";
import { type Cell, int, intOrNull, money, moneyOrNull, text } from "./postgres-cell.ts";
import { lockOrganization, newestStampMs } from "./postgres-organizations.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { printedValue } from "./sqlite-audit-log.ts";
import { stampOf } from "./stamp.ts";

type NewKey = Parameters<Ledger["createKey"]>[0];

/** When a key was last used is derived from its months, so that no request writes for it. */
const SELECT_KEY = `
  SELECT k.key_id, k.org_id, k.name, k.prefix, k.scope, k.limit_nano, k.created_at, k.revoked_at,
    (SELECT max(u.last_admitted_at) FROM key_month u WHERE u.org_id = k.org_id AND u.key_id = k.key_id),
    m.spent, m.held
  FROM api_key k LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = $1`;

/** Null when there is no such organization. */
export async function createKey(
  on: Asking,
  key: NewKey & { actor: Actor },
  nowMs: number,
): Promise<KeyRecord | null> {
  const { organizationId, id, name, prefix, digest, scope, limit, actor } = key;
  if ((await lockOrganization(on, organizationId)) === null) return null;
  await askOnce(
    on,
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, limit_nano, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [organizationId, id, name, prefix, Buffer.from(digest), scope, limit, nowMs],
  );
  const limit_usd = limit === null ? null : formatUsd(limit);
  const after = printedValue({ name, prefix, scope, limit_usd });
  await log(on, key, { actor, action: "key.create", after, atMs: nowMs });
  return findKey(on, id, nowMs);
}

export async function revokeKey(
  on: Asking,
  { keyId, actor }: { keyId: string; actor: Actor },
  nowMs: number,
): Promise<KeyRecord | null> {
  const locked = await lockedKey(on, keyId, nowMs);
  if (locked === null) return null;
  const { key, stampedAtMs } = locked;
  if (key.revokedAtMs !== null) return key;
  // Never before a request it already admitted, however far the clock was set back (I15).
  const revokedAtMs = Math.max(nowMs, stampedAtMs);
  await askOnce(
    on,
    "UPDATE api_key SET revoked_at = $3 WHERE org_id = $1 AND key_id = $2 AND revoked_at IS NULL",
    [key.organizationId, keyId, revokedAtMs],
  );
  const after = printedValue({ revoked_at: new Date(revokedAtMs).toISOString() });
  await log(on, key, { actor, action: "key.revoke", after, atMs: nowMs });
  return { ...key, revokedAtMs };
}

/** Compares the version under the lock: of two edits of one version, on whichever gateways, the second one is refused. */
export async function changeKey(
  on: Asking,
  { keyId, actor, ...edit }: KeyEdit & { keyId: string; actor: Actor },
  nowMs: number,
): Promise<KeyRecord | "changed_meanwhile" | null> {
  const locked = await lockedKey(on, keyId, nowMs);
  if (locked === null) return null;
  const { key } = locked;
  const edited = editKey(key, edit);
  if (edited === "changed_meanwhile") return edited;
  const { name, limit, lines } = edited;
  if (lines.length > 0)
    await askOnce(on, "UPDATE api_key SET name = $3, limit_nano = $4 WHERE org_id = $1 AND key_id = $2", [
      key.organizationId,
      keyId,
      name,
      limit,
    ]);
  for (const line of lines) await log(on, key, { actor, atMs: nowMs, ...line });
  return { ...key, name, limit };
}

export async function keysOf(on: Asking, organizationId: string, nowMs: number): Promise<KeyRecord[]> {
  const month = await monthOf(on, organizationId, nowMs);
  const rows = await askOnce(on, `${SELECT_KEY} WHERE k.org_id = $2 ORDER BY k.created_at, k.key_id`, [
    month,
    organizationId,
  ]);
  return rows.map((row) => keyRecordOf(row, month));
}

export async function findKey(on: Asking, keyId: string, nowMs: number): Promise<KeyRecord | null> {
  const organizationId = await ownerOf(on, keyId);
  if (organizationId === null) return null;
  const month = await monthOf(on, organizationId, nowMs);
  const [row] = await askOnce(on, `${SELECT_KEY} WHERE k.org_id = $2 AND k.key_id = $3`, [
    month,
    organizationId,
    keyId,
  ]);
  return row === undefined ? null : keyRecordOf(row, month);
}

/** The key as it is under its organization's lock. */
async function lockedKey(
  on: Asking,
  keyId: string,
  nowMs: number,
): Promise<{ key: KeyRecord; stampedAtMs: number } | null> {
  const organizationId = await ownerOf(on, keyId);
  const stampedAtMs = organizationId === null ? null : await lockOrganization(on, organizationId);
  const key = stampedAtMs === null ? null : await findKey(on, keyId, nowMs);
  return key === null || stampedAtMs === null ? null : { key, stampedAtMs };
}

async function ownerOf(on: Asking, keyId: string): Promise<string | null> {
  const [row] = await askOnce(on, "SELECT org_id FROM api_key WHERE key_id = $1", [keyId]);
  return row === undefined ? null : text(row[0]);
}

const monthOf = async (on: Asking, organizationId: string, nowMs: number): Promise<string> =>
  utcMonth(stampOf(nowMs, await newestStampMs(on, organizationId)));

async function log(
  on: Asking,
  { id, organizationId }: { id: string; organizationId: string },
  line: { actor: Actor; action: string; before?: string; after: string; atMs: number },
): Promise<void> {
  await appendAuditLine(on, { before: null, ...line, organizationId, target: id });
}

function keyRecordOf(row: Cell[], month: string): KeyRecord {
  const [id, organizationId, name, prefix, scope, limit, createdAt, revokedAt, lastUsedAt, spent, held] = row;
  return {
    id: text(id),
    organizationId: text(organizationId),
    name: text(name),
    prefix: text(prefix),
    scope: scope as Tier,
    limit: moneyOrNull(limit),
    month,
    monthSpend: spent === null ? ZERO_USD : money(spent),
    held: held === null ? ZERO_USD : money(held),
    createdAtMs: int(createdAt),
    lastUsedAtMs: intOrNull(lastUsedAt),
    revokedAtMs: intOrNull(revokedAt),
  };
}
