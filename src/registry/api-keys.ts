// API keys: made, edited, revoked for good, each under the lock of its organization, so that what has returned holds for
// every request that starts afterwards, on every gateway (money.md §10). Stored is the digest, never the key
// (hardening.md S1); when a key was last used is derived from its months, so that no request writes for it.
import type { Actor } from "../domain/actor.ts";
import type { Credential } from "../domain/credential.ts";
import type { Tier } from "../domain/gateway-object.ts";
import { formatUsd, type NanoUsd, ZERO_USD } from "../domain/money.ts";
import type { Refusal } from "../domain/refusals.ts";
import { printTime } from "../domain/print.ts";
import { lockOrganization, newestStampMs } from "../ledger/balance.ts";
import { decideKey } from "../ledger/decide/key.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { stampOf } from "../ledger/stamp.ts";
import { utcMonth } from "../lib/clock.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, bytesOf, moneyOf, numberOf, orNull, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { editKey, type KeyEdit } from "./key-edit.ts";
import { COUNT_LIVE_KEYS, LISTED_KEYS, LIVE_KEYS_MAX, type TooManyKeys } from "./key-list.ts";

export interface KeyRecord {
  id: string;
  organizationId: string;
  name: string;
  /** The displayable part before the secret. */
  prefix: string;
  scope: Tier;
  limit: NanoUsd | null;
  /** Figures of the current UTC month. */
  month: string;
  monthSpend: NanoUsd;
  held: NanoUsd;
  createdAtMs: number;
  lastUsedAtMs: number | null;
  revokedAtMs: number | null;
}

export interface NewKey {
  id: string;
  organizationId: string;
  name: string;
  prefix: string;
  digest: Uint8Array;
  scope: Tier;
  limit: NanoUsd | null;
}

/** Null when there is no such organization. */
export const createKey = (
  on: Transactions,
  key: NewKey,
  actor: Actor,
): Promise<KeyRecord | TooManyKeys | null> =>
  on.change(function* (nowMs): Query<KeyRecord | TooManyKeys | null> {
    const { organizationId, id, name, prefix, digest, scope, limit } = key;
    if ((yield* lockOrganization(organizationId)) === null) return null;
    const [live] = yield* ask(COUNT_LIVE_KEYS, [organizationId]);
    if (numberOf(live?.["keys"]) >= LIVE_KEYS_MAX) return "too_many_keys";
    yield* ask(
      `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, limit_nano, created_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
      [organizationId, id, name, prefix, digest, scope, limit, nowMs],
    );
    const after = { name, prefix, scope, limit_usd: limit === null ? null : formatUsd(limit) };
    yield* appendAuditLine({ actor, action: "key.create", organizationId, target: id, after }, nowMs);
    return yield* find(id, nowMs);
  });

/** Null when there is no such key; revoking twice keeps the first instant. */
export const revokeKey = (on: Transactions, keyId: string, actor: Actor): Promise<KeyRecord | null> =>
  on.change(function* (nowMs) {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null || locked.key.revokedAtMs !== null) return locked?.key ?? null;
    const { key, stampedAtMs } = locked;
    const { organizationId } = key;
    // Never before a request it already admitted, however far the clock was set back (I15).
    const revokedAtMs = Math.max(nowMs, stampedAtMs);
    yield* ask(
      "UPDATE api_key SET revoked_at = ?3 WHERE org_id = ?1 AND key_id = ?2 AND revoked_at IS NULL",
      [organizationId, keyId, revokedAtMs],
    );
    const after = { revoked_at: printTime(revokedAtMs) };
    yield* appendAuditLine({ actor, action: "key.revoke", organizationId, target: keyId, after }, nowMs);
    return { ...key, revokedAtMs };
  });

/**
 * Null when there is no such key. The version is compared under the lock: of two edits of one version, on whichever
 * gateways, the second one is refused.
 */
export const changeKey = (
  on: Transactions,
  keyId: string,
  edit: KeyEdit,
  actor: Actor,
): Promise<KeyRecord | "changed_meanwhile" | null> =>
  on.change(function* (nowMs): Query<KeyRecord | "changed_meanwhile" | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key } = locked;
    const edited = editKey(key, edit);
    if (edited === "changed_meanwhile") return edited;
    const { name, limit, lines } = edited;
    const { organizationId } = key;
    if (lines.length > 0)
      yield* ask("UPDATE api_key SET name = ?3, limit_nano = ?4 WHERE org_id = ?1 AND key_id = ?2", [
        organizationId,
        keyId,
        name,
        limit,
      ]);
    for (const line of lines)
      yield* appendAuditLine({ actor, organizationId, target: keyId, ...line }, nowMs);
    return { ...key, name, limit };
  });

/** Its live keys, and those that were revoked last. */
export const keysOf = (on: Reader, organizationId: string): Promise<KeyRecord[]> =>
  on.read(function* (nowMs) {
    const month = monthOf(yield* newestStampMs(organizationId), nowMs);
    const rows = yield* ask(`${selectKey(LISTED_KEYS)} ORDER BY k.created_at, k.key_id`, [
      month,
      organizationId,
    ]);
    return rows.map((row) => keyOf(row, month));
  });

export const findKey = (on: Reader, keyId: string): Promise<KeyRecord | null> =>
  on.read((nowMs) => find(keyId, nowMs));

/** The key as of now, read from the store, never cached; for the free endpoints and for quotes. */
export const authenticateKey = (
  on: Reader,
  credential: Credential,
): Promise<{ kind: "key"; key: KeyRecord } | { kind: "refused"; refusal: Refusal }> =>
  on.read(function* (nowMs): Query<{ kind: "key"; key: KeyRecord } | { kind: "refused"; refusal: Refusal }> {
    const { organizationId, keyId } = credential;
    const month = monthOf(yield* newestStampMs(organizationId), nowMs);
    const [row] = yield* ask(ONE_KEY, [month, organizationId, keyId]);
    const found = row && { ...keyOf(row, month), digest: bytesOf(row["digest"]) };
    const known = decideKey(found, credential);
    if (known.kind === "refused") return known;
    const { digest: _, ...key } = known.key;
    return { kind: "key", key };
  });

/** `keys`: the table, or a part of it under `?2`, the organization. `?1` is the month. */
const selectKey = (keys: string): string => `
  SELECT k.key_id, k.org_id, k.name, k.prefix, k.digest, k.scope, k.limit_nano, k.created_at, k.revoked_at,
    (SELECT max(u.last_admitted_at) FROM key_month u WHERE u.org_id = k.org_id AND u.key_id = k.key_id) AS used_at,
    m.spent, m.held
  FROM ${keys} k LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ?1`;
const ONE_KEY = `${selectKey("api_key")} WHERE k.org_id = ?2 AND k.key_id = ?3`;

function* find(keyId: string, nowMs: number): Query<KeyRecord | null> {
  const organizationId = yield* ownerOf(keyId);
  if (organizationId === null) return null;
  const month = monthOf(yield* newestStampMs(organizationId), nowMs);
  const [row] = yield* ask(ONE_KEY, [month, organizationId, keyId]);
  return row === undefined ? null : keyOf(row, month);
}

/** The key as it is under its organization's lock. */
function* lockKey(keyId: string, nowMs: number): Query<{ key: KeyRecord; stampedAtMs: number } | null> {
  const organizationId = yield* ownerOf(keyId);
  const stampedAtMs = organizationId === null ? null : yield* lockOrganization(organizationId);
  const key = stampedAtMs === null ? null : yield* find(keyId, nowMs);
  return key === null || stampedAtMs === null ? null : { key, stampedAtMs };
}

function* ownerOf(keyId: string): Query<string | null> {
  const [row] = yield* ask("SELECT org_id FROM api_key WHERE key_id = ?1", [keyId]);
  return row === undefined ? null : textOf(row["org_id"]);
}

const monthOf = (newestMs: number, nowMs: number): string => utcMonth(stampOf(nowMs, newestMs));

const keyOf = (row: SqlRow, month: string): KeyRecord => ({
  id: textOf(row["key_id"]),
  organizationId: textOf(row["org_id"]),
  name: textOf(row["name"]),
  prefix: textOf(row["prefix"]),
  scope: textOf(row["scope"]) as Tier,
  limit: orNull(row["limit_nano"], moneyOf),
  month,
  monthSpend: orNull(row["spent"], moneyOf) ?? ZERO_USD,
  held: orNull(row["held"], moneyOf) ?? ZERO_USD,
  createdAtMs: numberOf(row["created_at"]),
  lastUsedAtMs: orNull(row["used_at"], numberOf),
  revokedAtMs: orNull(row["revoked_at"], numberOf),
});
