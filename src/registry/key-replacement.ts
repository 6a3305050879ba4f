// Replaces a key: the successor gets its settings, while the replaced key works until its end (money.md §10).
import type { Actor } from "../domain/actor.ts";
import { printTime } from "../domain/print.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { ask, type Query } from "../store/sql.ts";
import { insertKey } from "./api-keys.ts";
import { printSettings } from "./key-edit.ts";
import type { TooManyKeys } from "./key-list.ts";
import type { KeyRecord } from "./key-record.ts";
import { changeKeyInLine, isOver, lockKey, tellOfKey } from "./locked-key.ts";

/** A key that replaces another one. */
export interface Successor {
  id: string;
  prefix: string;
  lastFour: string;
  digest: Uint8Array;
  /**
   * The predecessor expires after this time, or earlier if it would have expired anyway; null means that it
   * does not.
   */
  overlapMs: number | null;
  /** The successor's expiry; by default its predecessor's. */
  expiresAtMs?: number | null | undefined;
}

/** Creates a key with the settings of this one, which works until its end. Null if there is no such key. */
export const replaceKey = (
  on: Transactions,
  keyId: string,
  { overlapMs, expiresAtMs, ...successor }: Successor,
  actor: Actor,
): Promise<KeyRecord | TooManyKeys | "over" | "past" | null> =>
  changeKeyInLine(on, { keyId, actor }, function* (nowMs): Query<
    KeyRecord | TooManyKeys | "over" | "past" | null
  > {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key } = locked;
    if (isOver(key)) return "over";
    const { organizationId, name, scope, limit, dayLimit, weekLimit, allowedModels, maxOutputTokens } = key;
    const settings = { limit, dayLimit, weekLimit, allowedModels, maxOutputTokens };
    const made = yield* insertKey(
      {
        ...successor,
        organizationId,
        name,
        scope,
        ...settings,
        expiresAtMs: expiresAtMs === undefined ? key.expiresAtMs : expiresAtMs,
      },
      { actor, nowMs, also: { replaces: keyId } },
    );
    if (typeof made === "string" || overlapMs === null) return made;
    const endsAtMs = Math.max(
      nowMs + 1,
      Math.min(nowMs + overlapMs, key.expiresAtMs ?? Number.POSITIVE_INFINITY),
    );
    yield* ask("UPDATE api_key SET expires_at = ?3 WHERE org_id = ?1 AND key_id = ?2", [
      organizationId,
      keyId,
      endsAtMs,
    ]);
    const { expires_at: before } = printSettings(key);
    const line = {
      action: "key.settings",
      before: { expires_at: before },
      after: { expires_at: printTime(endsAtMs) },
    };
    yield* tellOfKey(key, { actor, ...line }, nowMs);
    return made;
  });
