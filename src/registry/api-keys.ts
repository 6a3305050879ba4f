// API keys: created and edited under the lock of their organization, so that a change that has returned
// applies to every request that starts afterwards, on every gateway (money.md §10); found and authenticated.
// Only the digest is stored, never the key (hardening.md S1).
import type { Actor } from "../domain/actor.ts";
import type { Credential } from "../domain/credential.ts";
import type { Tier } from "../domain/gateway-object.ts";
import type { Refusal } from "../domain/refusals.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { lockOrganization } from "../ledger/balance.ts";
import { decideKey } from "../ledger/decide/key.ts";
import { countsDays } from "../ledger/key-spans.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, bytesOf, numberOf, orNull, type Query, type SqlRow, type SqlValue } from "../store/sql.ts";
import { editKey, type KeyEdit, printSettings } from "./key-edit.ts";
import { COUNT_LIVE_KEYS, LIVE_KEYS_MAX, type TooManyKeys } from "./key-list.ts";
import { type KeyRecord, type KeySettings, readKey, readKeysNamed } from "./key-record.ts";
import { changeKeyInLine, isOver, lockKey, organizationOfKey, ownerOfKey, tellOfKey } from "./locked-key.ts";

export type { KeyRecord } from "./key-record.ts";

/** Omitted settings are unlimited. */
export interface NewKey extends Partial<KeySettings> {
  id: string;
  organizationId: string;
  name: string;
  prefix: string;
  lastFour: string;
  digest: Uint8Array;
  scope: Tier;
}

/** `over`: it was revoked or has expired; both are final. `past`: it would expire before now. */
export type NotNow = "changed_meanwhile" | "over" | "past";

const NO_SETTINGS: KeySettings = {
  limit: null,
  dayLimit: null,
  weekLimit: null,
  allowedModels: null,
  maxOutputTokens: null,
  expiresAtMs: null,
};

/** Null if there is no such organization. */
export const createKey = (
  on: Transactions,
  key: NewKey,
  actor: Actor,
): Promise<KeyRecord | TooManyKeys | "past" | null> =>
  on.change({ organizationId: key.organizationId, by: actor.id }, function* (nowMs): Query<
    KeyRecord | TooManyKeys | "past" | null
  > {
    if ((yield* lockOrganization(key.organizationId)) === null) return null;
    return yield* insertKey(key, { actor, nowMs, also: {} });
  });

/** Runs in a change that holds the organization's lock; `also` is added to its audit line. */
export function* insertKey(
  key: NewKey,
  { actor, nowMs, also }: { actor: Actor; nowMs: number; also: Record<string, string> },
): Query<KeyRecord | TooManyKeys | "past"> {
  const { organizationId, id, name, prefix, lastFour, digest, scope, ...given } = key;
  const settings = { ...NO_SETTINGS, ...given };
  if (settings.expiresAtMs !== null && settings.expiresAtMs <= nowMs) return "past";
  const [live] = yield* ask(COUNT_LIVE_KEYS, [organizationId]);
  if (numberOf(live?.["keys"]) >= LIVE_KEYS_MAX) return "too_many_keys";
  yield* ask(
    `INSERT INTO api_key (org_id, key_id, name, limit_nano, day_limit_nano, week_limit_nano, allowed_models, max_output_tokens,
       expires_at, prefix, last_four, digest, scope, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`,
    [organizationId, id, name, ...kept(settings), prefix, lastFour, digest, scope, nowMs],
  );
  const { limit_usd, ...others } = printSettings(settings);
  const set = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  const after = { name, prefix, scope, limit_usd, ...set, ...also };
  yield* appendAuditLine({ actor, action: "key.create", organizationId, target: id, after }, nowMs);
  const made = yield* readKey({ organizationId, keyId: id }, nowMs);
  if (made === null) throw new Error("a key that was just created is missing");
  return made.key;
}

/** In the order of a key's columns. */
const kept = (settings: KeySettings): SqlValue[] => [
  settings.limit,
  settings.dayLimit,
  settings.weekLimit,
  settings.allowedModels === null ? null : JSON.stringify(settings.allowedModels),
  settings.maxOutputTokens,
  settings.expiresAtMs,
];

/**
 * Null if there is no such key. The version is compared under the lock: of two edits of one version, on any
 * gateways, the second is refused.
 */
export const changeKey = (
  on: Transactions,
  keyId: string,
  edit: KeyEdit,
  actor: Actor,
): Promise<KeyRecord | NotNow | null> =>
  changeKeyInLine(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | NotNow | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key } = locked;
    const outcome = editKey(key, edit);
    if (outcome === "changed_meanwhile") return outcome;
    const { edited, lines } = outcome;
    if (edited.expiresAtMs !== key.expiresAtMs) {
      if (isOver(key)) return "over";
      if (edited.expiresAtMs !== null && edited.expiresAtMs <= nowMs) return "past";
    }
    if (lines.length === 0) return key;
    yield* ask(
      `UPDATE api_key SET name = ?3, limit_nano = ?4, day_limit_nano = ?5, week_limit_nano = ?6, allowed_models = ?7,
         max_output_tokens = ?8, expires_at = ?9 WHERE org_id = ?1 AND key_id = ?2`,
      [key.organizationId, keyId, edited.name, ...kept(edited)],
    );
    if (countsDays(edited) && !countsDays(key)) yield* noteOpenHolds(key);
    for (const line of lines) yield* tellOfKey(key, { actor, ...line }, nowMs);
    return (yield* find(keyId, nowMs)) ?? key;
  });

/**
 * Assigns open requests to their day, as requests admitted from now on are. Uses the index of running requests, which are
 * few: by the primary key everything that the organization ever sent would be read, on the thread of requests.
 */
const noteOpenHolds = ({ organizationId, id }: KeyRecord): Query<unknown> =>
  ask(
    {
      sqlite: `${NOTE_HOLDS} INDEXED BY request_unfinished WHERE state = 'dispatched' ${OF_KEY}`,
      postgresql: `${NOTE_HOLDS} WHERE closed_txn IS NULL ${OF_KEY}`,
    },
    [organizationId, id],
  );
const NOTE_HOLDS = `INSERT INTO key_hold (org_id, key_id, request_id)
  SELECT org_id, key_id, request_id FROM request`;
const OF_KEY = "AND org_id = ?1 AND key_id = ?2 ON CONFLICT DO NOTHING";

/** Exactly these keys, in the given order. */
export async function keysNamed(
  on: Reader,
  organizationId: string,
  ids: readonly string[],
): Promise<KeyRecord[]> {
  const found = await on.read((nowMs) => readKeysNamed(organizationId, ids, nowMs));
  const byId = new Map(found.map((key) => [key.id, key]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** A key of any organization; null if there is none. */
export const findKey = (on: Reader, keyId: string): Promise<KeyRecord | null> =>
  on.read((nowMs) => find(keyId, nowMs));

/** Throws if the organization has no key with the id that a filter names. A key whose row is damaged still exists. */
export async function assertKeyAsked(
  on: Reader,
  { org, key }: { org: string; key?: string | undefined },
): Promise<void> {
  if (key !== undefined && (await ownerOfKey(on, key)) !== org) throw unknownRecord("key", key, "key");
}

/** The key as of now, read from the store, never cached; for the free endpoints and for quotes. */
export const authenticateKey = (
  on: Reader,
  credential: Credential,
): Promise<{ kind: "key"; key: KeyRecord } | { kind: "refused"; refusal: Refusal }> =>
  on.read(function* (nowMs): Query<{ kind: "key"; key: KeyRecord } | { kind: "refused"; refusal: Refusal }> {
    const found = yield* readKey(credential, nowMs);
    const known = decideKey(found === null ? undefined : withDigest(found), credential, nowMs);
    if (known.kind === "refused") return known;
    const { digest: _, ...key } = known.key;
    return { kind: "key", key };
  });

/** With `revokedAtMs` as stored, which is also set while the key is paused. */
const withDigest = ({ key, row }: { key: KeyRecord; row: SqlRow }): KeyRecord & { digest: Uint8Array } => ({
  ...key,
  revokedAtMs: orNull(row["revoked_at"], numberOf),
  digest: bytesOf(row["digest"]),
});

function* find(keyId: string, nowMs: number): Query<KeyRecord | null> {
  const organizationId = yield* organizationOfKey(keyId);
  if (organizationId === null) return null;
  return (yield* readKey({ organizationId, keyId }, nowMs))?.key ?? null;
}
