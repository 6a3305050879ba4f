// API keys: made, edited, paused, replaced, ended for good, each under the lock of its organization, so that what has returned
// holds for every request that starts afterwards, on every gateway (money.md §10). Stored is the digest, never the key
// (hardening.md S1).
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import type { Credential } from "../domain/credential.ts";
import type { Tier } from "../domain/gateway-object.ts";
import type { Refusal } from "../domain/refusals.ts";
import { printTime } from "../domain/print.ts";
import { lockOrganization } from "../ledger/balance.ts";
import { decideKey } from "../ledger/decide/key.ts";
import { countsDays } from "../ledger/key-spans.ts";
import type { Reader, Transactions, Work } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import {
  ask,
  bytesOf,
  numberOf,
  orNull,
  type Query,
  type SqlRow,
  type SqlValue,
  textOf,
} from "../store/sql.ts";
import { editKey, type KeyEdit, printSettings } from "./key-edit.ts";
import { COUNT_LIVE_KEYS, LIVE_KEYS_MAX, type TooManyKeys } from "./key-list.ts";
import { type KeyRecord, type KeySettings, readKey, readKeys, readKeysNamed } from "./key-record.ts";

export type { KeyRecord } from "./key-record.ts";

/** Settings that are left out are no bound. */
export interface NewKey extends Partial<KeySettings> {
  id: string;
  organizationId: string;
  name: string;
  prefix: string;
  lastFour: string;
  digest: Uint8Array;
  scope: Tier;
}

/** `over`: it was revoked, or its time is over; both are final. `past`: it would end before now. */
export type NotNow = "changed_meanwhile" | "over" | "past";

const NO_SETTINGS: KeySettings = {
  limit: null,
  dayLimit: null,
  weekLimit: null,
  allowedModels: null,
  maxOutputTokens: null,
  expiresAtMs: null,
};

/** Null when there is no such organization. */
export const createKey = (
  on: Transactions,
  key: NewKey,
  actor: Actor,
): Promise<KeyRecord | TooManyKeys | "past" | null> =>
  on.change({ organizationId: key.organizationId, by: actor.id }, function* (nowMs): Query<
    KeyRecord | TooManyKeys | "past" | null
  > {
    if ((yield* lockOrganization(key.organizationId)) === null) return null;
    return yield* insert(key, { actor, nowMs, also: {} });
  });

function* insert(
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
  if (made === null) throw new Error("a key that was made is not there");
  return made.key;
}

/** As the columns of a key have them. */
const kept = (settings: KeySettings): SqlValue[] => [
  settings.limit,
  settings.dayLimit,
  settings.weekLimit,
  settings.allowedModels === null ? null : JSON.stringify(settings.allowedModels),
  settings.maxOutputTokens,
  settings.expiresAtMs,
];

/** Null when there is no such key; revoking twice keeps the first instant. */
export const revokeKey = (on: Transactions, keyId: string, actor: Actor): Promise<KeyRecord | null> =>
  changeOne(on, { keyId, actor }, function* (nowMs) {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null || isOver(locked.key)) return locked?.key ?? null;
    const { key, stampedAtMs } = locked;
    // Never before a request it already admitted, however far the clock was set back (I15).
    const revokedAtMs = Math.max(nowMs, stampedAtMs);
    yield* setLife(key, { revokedAtMs, pausedAtMs: null });
    const after = { revoked_at: printTime(revokedAtMs) };
    yield* tell(key, { actor, action: "key.revoke", after }, nowMs);
    return { ...key, state: "revoked", pausedAtMs: null, revokedAtMs };
  });

/** From its very next request on, until it is resumed. Null when there is no such key; pausing twice keeps the first instant. */
export const pauseKey = (on: Transactions, keyId: string, actor: Actor): Promise<KeyRecord | "over" | null> =>
  changeOne(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | "over" | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key, stampedAtMs } = locked;
    if (isOver(key)) return "over";
    if (key.state === "paused") return key;
    const pausedAtMs = Math.max(nowMs, stampedAtMs);
    yield* setLife(key, { revokedAtMs: pausedAtMs, pausedAtMs });
    yield* tell(key, { actor, action: "key.pause", after: { paused_at: printTime(pausedAtMs) } }, nowMs);
    return { ...key, state: "paused", pausedAtMs };
  });

/** Null when there is no such key; one that is not paused stays as it is. */
export const resumeKey = (
  on: Transactions,
  keyId: string,
  actor: Actor,
): Promise<KeyRecord | "over" | null> =>
  changeOne(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | "over" | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key } = locked;
    if (isOver(key)) return "over";
    if (key.state !== "paused") return key;
    yield* setLife(key, { revokedAtMs: null, pausedAtMs: null });
    const before = { paused_at: printTime(key.pausedAtMs ?? 0) };
    yield* tell(key, { actor, action: "key.resume", before }, nowMs);
    return { ...key, state: "active", pausedAtMs: null };
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
): Promise<KeyRecord | NotNow | null> =>
  changeOne(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | NotNow | null> {
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
    for (const line of lines) yield* tell(key, { actor, ...line }, nowMs);
    return (yield* find(keyId, nowMs)) ?? key;
  });

/** What runs already is told apart by its day like what is admitted from now on. */
const noteOpenHolds = ({ organizationId, id }: KeyRecord): Query<unknown> =>
  ask(
    {
      sqlite: `${NOTE_HOLDS} state = 'dispatched' ON CONFLICT DO NOTHING`,
      postgresql: `${NOTE_HOLDS} closed_txn IS NULL ON CONFLICT DO NOTHING`,
    },
    [organizationId, id],
  );
const NOTE_HOLDS = `INSERT INTO key_hold (org_id, key_id, request_id)
  SELECT org_id, key_id, request_id FROM request WHERE org_id = ?1 AND key_id = ?2 AND`;

/** A key that takes another one's place. */
export interface Successor {
  id: string;
  prefix: string;
  lastFour: string;
  digest: Uint8Array;
  /** The predecessor ends by itself after so long, at the latest when it would have ended anyway; null: it does not. */
  overlapMs: number | null;
  /** Its own; left out: its predecessor's. */
  expiresAtMs?: number | null | undefined;
}

/** A new key with the settings of this one, which works on until its end. Null when there is no such key. */
export const replaceKey = (
  on: Transactions,
  keyId: string,
  { overlapMs, expiresAtMs, ...successor }: Successor,
  actor: Actor,
): Promise<KeyRecord | TooManyKeys | "over" | "past" | null> =>
  changeOne(on, { keyId, actor }, function* (nowMs): Query<KeyRecord | TooManyKeys | "over" | "past" | null> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked === null) return null;
    const { key } = locked;
    if (isOver(key)) return "over";
    const { organizationId, name, scope, limit, dayLimit, weekLimit, allowedModels, maxOutputTokens } = key;
    const settings = { limit, dayLimit, weekLimit, allowedModels, maxOutputTokens };
    const made = yield* insert(
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
    yield* tell(key, { actor, ...line }, nowMs);
    return made;
  });

/** Keys whose time is over, as far as nobody has ended them: programs that know no expiry refuse them from then on. */
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
  changeOne(on, { keyId, actor }, function* (nowMs): Query<boolean> {
    const locked = yield* lockKey(keyId, nowMs);
    if (locked?.key.state !== "expired" || locked.ended) return false;
    const { key, stampedAtMs } = locked;
    yield* setLife(key, { revokedAtMs: Math.max(nowMs, stampedAtMs), pausedAtMs: null });
    const after = { expires_at: printTime(key.expiresAtMs ?? 0) };
    yield* tell(key, { actor, action: "key.expire", after }, nowMs);
    return true;
  });

/** Its live keys, and those that were revoked last. */
export const keysOf = (on: Reader, organizationId: string): Promise<KeyRecord[]> =>
  on.read((nowMs) => readKeys(organizationId, nowMs));

/** Of these and no others, in the order that they are named in. */
export async function keysNamed(
  on: Reader,
  organizationId: string,
  ids: readonly string[],
): Promise<KeyRecord[]> {
  const found = await on.read((nowMs) => readKeysNamed(organizationId, ids, nowMs));
  const byId = new Map(found.map((key) => [key.id, key]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export const findKey = (on: Reader, keyId: string): Promise<KeyRecord | null> =>
  on.read((nowMs) => find(keyId, nowMs));

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

/** As its row ends it, a pause included. */
const withDigest = ({ key, row }: { key: KeyRecord; row: SqlRow }): KeyRecord & { digest: Uint8Array } => ({
  ...key,
  revokedAtMs: orNull(row["revoked_at"], numberOf),
  digest: bytesOf(row["digest"]),
});

function* find(keyId: string, nowMs: number): Query<KeyRecord | null> {
  const organizationId = yield* ownerOf(keyId);
  if (organizationId === null) return null;
  return (yield* readKey({ organizationId, keyId }, nowMs))?.key ?? null;
}

interface Locked {
  key: KeyRecord;
  stampedAtMs: number;
  /** It is ended in the store, too. */
  ended: boolean;
}

/** The key as it is under its organization's lock. */
function* lockKey(keyId: string, nowMs: number): Query<Locked | null> {
  const organizationId = yield* ownerOf(keyId);
  const stampedAtMs = organizationId === null ? null : yield* lockOrganization(organizationId);
  if (organizationId === null || stampedAtMs === null) return null;
  const found = yield* readKey({ organizationId, keyId }, nowMs);
  return found === null ? null : { key: found.key, stampedAtMs, ended: found.row["revoked_at"] !== null };
}

/** Its organization; null when there is no such key. */
export const ownerOfKey = (on: Reader, keyId: string): Promise<string | null> =>
  on.read(() => ownerOf(keyId));

/** A change in line with the others of its organization. */
async function changeOne<T>(
  on: Transactions,
  { keyId, actor }: { keyId: string; actor: Actor },
  work: Work<T>,
): Promise<T> {
  const organizationId = await ownerOfKey(on, keyId);
  return await on.change(organizationId === null ? null : { organizationId, by: actor.id }, work);
}

function* ownerOf(keyId: string): Query<string | null> {
  const [row] = yield* ask("SELECT org_id FROM api_key WHERE key_id = ?1", [keyId]);
  return row === undefined ? null : textOf(row["org_id"]);
}

const isOver = ({ state }: KeyRecord): boolean => state === "revoked" || state === "expired";

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

const tell = (
  { organizationId, id }: KeyRecord,
  line: Pick<AuditNote, "actor" | "action" | "before" | "after">,
  nowMs: number,
): Query<void> => appendAuditLine({ organizationId, target: id, ...line }, nowMs);
