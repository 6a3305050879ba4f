// A key's life cycle: paused, resumed, revoked for good, ended at its expiry. A change that has returned
// applies to every request that starts afterwards, on every gateway (money.md §10).
import type { Actor } from "../domain/actor.ts";
import { printTime } from "../domain/print.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { ask, type Query, textOf } from "../store/sql.ts";
import type { KeyRecord } from "./key-record.ts";
import { changeKeyInLine, isOver, lockKey, tellOfKey } from "./locked-key.ts";

/** Null if there is no such key; revoking twice keeps the first instant. */
export const revokeKey = (on: Transactions, keyId: string, actor: Actor): Promise<KeyRecord | null> =>
  changeKeyInLine(on, { keyId, actor }, function* (nowMs) {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null || isOver(locked.key)) return locked?.key ?? null;
    const { key, stampedAtMs } = locked;
    // Never before a request it has already admitted, however far the clock was set back (I15).
    const revokedAtMs = Math.max(nowMs, stampedAtMs);
    yield* setLife(key, { revokedAtMs, pausedAtMs: null });
    const after = { revoked_at: printTime(revokedAtMs) };
    yield* tellOfKey(key, { actor, action: "key.revoke", after }, nowMs);
    return { ...key, state: "revoked", pausedAtMs: null, revokedAtMs };
  });

/**
 * Takes effect with the next request, until it is resumed. Null if there is no such key; pausing twice keeps
 * the first instant.
 */
export const pauseKey = (on: Transactions, keyId: string, actor: Actor): Promise<KeyRecord | "over" | null> =>
  changeKeyInLine(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | "over" | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key, stampedAtMs } = locked;
    if (isOver(key)) return "over";
    if (key.state === "paused") return key;
    const pausedAtMs = Math.max(nowMs, stampedAtMs);
    yield* setLife(key, { revokedAtMs: pausedAtMs, pausedAtMs });
    yield* tellOfKey(key, { actor, action: "key.pause", after: { paused_at: printTime(pausedAtMs) } }, nowMs);
    return { ...key, state: "paused", pausedAtMs };
  });

/** Null if there is no such key; a key that is not paused stays unchanged. */
export const resumeKey = (
  on: Transactions,
  keyId: string,
  actor: Actor,
): Promise<KeyRecord | "over" | null> =>
  changeKeyInLine(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | "over" | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key } = locked;
    if (isOver(key)) return "over";
    if (key.state !== "paused") return key;
    yield* setLife(key, { revokedAtMs: null, pausedAtMs: null });
    const before = { paused_at: printTime(key.pausedAtMs ?? 0) };
    yield* tellOfKey(key, { actor, action: "key.resume", before }, nowMs);
    return { ...key, state: "active", pausedAtMs: null };
  });

/** Ends expired keys that nobody has ended: versions that know no expiry refuse them from then on. */
export async function endExpiredKeys(on: Transactions, actor: Actor): Promise<number> {
  const due = await on.read((nowMs) =>
    ask(
      `SELECT key_id FROM api_key WHERE expires_at IS NOT NULL AND revoked_at IS NULL AND expires_at <= ?1
       ORDER BY expires_at LIMIT 100`,
      [nowMs],
    ),
  );
  let ended = 0;
  for (const row of due) if (await endExpired(on, textOf(row["key_id"]), actor)) ended += 1;
  return ended;
}

const endExpired = (on: Transactions, keyId: string, actor: Actor): Promise<boolean> =>
  changeKeyInLine(on, { keyId, actor }, function* (nowMs): Query<boolean> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked?.key.state !== "expired" || locked.ended) return false;
    const { key, stampedAtMs } = locked;
    yield* setLife(key, { revokedAtMs: Math.max(nowMs, stampedAtMs), pausedAtMs: null });
    const after = { expires_at: printTime(key.expiresAtMs ?? 0) };
    yield* tellOfKey(key, { actor, action: "key.expire", after }, nowMs);
    return true;
  });

const setLife = (
  { organizationId, id }: KeyRecord,
  { revokedAtMs, pausedAtMs }: { revokedAtMs: number | null; pausedAtMs: number | null },
): Query<unknown> =>
  ask("UPDATE api_key SET revoked_at = ?3, paused_at = ?4 WHERE org_id = ?1 AND key_id = ?2", [
    organizationId,
    id,
    revokedAtMs,
    pausedAtMs,
  ]);
