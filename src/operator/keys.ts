// API keys: created (the secret is returned once, here), listed, revoked permanently, edited (specification
// 2.3 and 3).
import { HOUR_MS } from "../domain/durations.ts";
import type { z } from "zod";
import type { CreatedKeyJson, CreateKey, KeyJson, ReplaceKey, updateKeyInput } from "../api/shapes/keys.ts";
import type { Actor } from "../domain/actor.ts";
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { readTime, readUsd } from "../domain/read.ts";
import { Refusal } from "../domain/refusals.ts";
import { changedMeanwhile, versionOf } from "../domain/row-version.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { type Period, reachedOf } from "../ledger/key-spans.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import {
  changeKey,
  createKey,
  findKey,
  type KeyRecord,
  keysNamed,
  type NotNow,
} from "../registry/api-keys.ts";
import { pauseKey, resumeKey, revokeKey } from "../registry/key-life.ts";
import { replaceKey } from "../registry/key-replacement.ts";
import { printSettings } from "../registry/key-edit.ts";
import { LIVE_KEYS_MAX, type TooManyKeys } from "../registry/key-list.ts";
import type { KeySettings } from "../registry/key-record.ts";
import { findOrganization } from "../registry/organizations.ts";
import { mintKey } from "../registry/secret.ts";

type Store = Transactions;

type KeyChange = z.output<typeof updateKeyInput>;

export const keys = (ledger: Store) => ({
  /** The only response that ever contains the secret. */
  async create({ org, name, scope, ...given }: CreateKey, actor: Actor): Promise<CreatedKeyJson> {
    if ((await findOrganization(ledger, org)) === null) throw unknownRecord("organization", org, "org");
    const id = newId("key");
    const { value, ...minted } = mintKey({ organizationId: org, keyId: id });
    const key = { id, organizationId: org, name, ...minted, scope, ...readSettings(given) };
    const record = await createKey(ledger, key, actor);
    if (record === null) throw unknownRecord("organization", org, "org");
    return { ...printKey(done(record)), secret: value };
  },
  /** One key of any organization; null if there is none. */
  async find(key: string): Promise<KeyJson | null> {
    const record = await findKey(ledger, key);
    return record === null ? null : printKey(record);
  },
  /** Exactly these keys, in the given order. */
  named: async (org: string, ids: readonly string[]): Promise<KeyJson[]> =>
    (await keysNamed(ledger, org, ids)).map(printKey),
  revoke: async (key: string, actor: Actor): Promise<KeyJson> =>
    printKey(known(key, await revokeKey(ledger, key, actor))),
  pause: async (key: string, actor: Actor): Promise<KeyJson> =>
    printKey(done(known(key, await pauseKey(ledger, key, actor)))),
  resume: async (key: string, actor: Actor): Promise<KeyJson> =>
    printKey(done(known(key, await resumeKey(ledger, key, actor)))),
  /**
   * Changes name and settings, all or nothing; omitted fields stay unchanged, and without a version any
   * version is changed.
   */
  async change({ key, name, version, ...given }: KeyChange, actor: Actor): Promise<KeyJson> {
    const edit = { name, version, ...readSettings(given) };
    return printKey(done(known(key, await changeKey(ledger, key, edit, actor))));
  },
  /** Creates a successor with the same settings; the old key expires after the overlap. */
  async replace({ key, overlap_hours, expires_at }: ReplaceKey, actor: Actor): Promise<CreatedKeyJson> {
    const { org } = printKey(known(key, await findKey(ledger, key)));
    const id = newId("key");
    const { value, ...minted } = mintKey({ organizationId: org, keyId: id });
    const overlapMs = overlap_hours === null ? null : overlap_hours * HOUR_MS;
    const { expiresAtMs } = readSettings({ expires_at });
    const record = await replaceKey(ledger, key, { id, ...minted, overlapMs, expiresAtMs }, actor);
    return { ...printKey(done(known(key, record))), secret: value };
  },
});

function known<T>(key: string, record: T | null): T {
  if (record === null) throw unknownRecord("key", key, "key");
  return record;
}

/** The record; throws the reason if there is none. */
function done(outcome: KeyRecord | NotNow | TooManyKeys): KeyRecord {
  switch (outcome) {
    case "changed_meanwhile":
      throw changedMeanwhile();
    case "too_many_keys":
      throw tooManyKeys();
    case "over":
      throw new OperatorRefusal(
        "conflict",
        "This key is revoked or has expired and cannot be restored. Create a new one.",
        "key",
      );
    case "past":
      throw new Refusal("invalid_request", "expires_at must be in the future.", { param: "expires_at" });
    default:
      return outcome;
  }
}

type GivenSettings = Partial<Pick<KeyChange, keyof ReturnType<typeof printSettings>>>;

/** Omitted fields stay omitted. */
function readSettings(given: GivenSettings): Partial<KeySettings> {
  const amount = (field: "limit_usd" | "day_limit_usd" | "week_limit_usd"): NanoUsd | null | undefined => {
    const text = given[field];
    return text === undefined || text === null ? text : readUsd(text, field);
  };
  const { allowed_models, max_output_tokens, expires_at } = given;
  const settings = {
    limit: amount("limit_usd"),
    dayLimit: amount("day_limit_usd"),
    weekLimit: amount("week_limit_usd"),
    allowedModels:
      allowed_models === undefined || allowed_models === null ? allowed_models : [...new Set(allowed_models)],
    maxOutputTokens: max_output_tokens,
    expiresAtMs:
      expires_at === undefined || expires_at === null ? expires_at : readTime(expires_at, "expires_at"),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** The refusal for an organization with too many keys. */
const tooManyKeys = (): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The organization has ${LIVE_KEYS_MAX} keys that are not revoked, which is the maximum. Revoke one that is not in use, then create this one.`,
  );

function printKey(key: KeyRecord): KeyJson {
  const reached = reachedOf(key.spans);
  const span = (period: Period) => key.spans.find((one) => one.period === period);
  const figures = (period: Period) => {
    const found = span(period);
    return found === undefined
      ? null
      : {
          spent_usd: formatUsd(found.spent),
          held_usd: formatUsd(found.held),
          resets_at: printTime(found.resetsAtMs),
        };
  };
  return {
    id: key.id,
    org: key.organizationId,
    name: key.name,
    scope: key.scope,
    prefix: key.prefix,
    last_four: key.lastFour,
    ...printSettings(key),
    month: key.month,
    month_spend_usd: formatUsd(key.monthSpend),
    held_usd: formatUsd(key.held),
    day: figures("day"),
    week: figures("week"),
    status: key.state,
    blocked_by_limit: reached !== undefined,
    blocked_until: reached === undefined ? null : printTime(reached.resetsAtMs),
    created_at: printTime(key.createdAtMs),
    last_used_at: printTimeOrNull(key.lastUsedAtMs),
    paused_at: printTimeOrNull(key.pausedAtMs),
    revoked_at: printTimeOrNull(key.revokedAtMs),
    version: versionOf("key", key),
  };
}
