// API keys: the record of the operator API, and the dashboard's, which adds the creator and what is left of
// the limits.
import { z } from "zod";
import {
  count,
  exactUsdInput,
  id,
  keyId,
  line,
  listOf,
  orgId,
  page,
  personRef,
  recordsPage,
  searchText,
  tier,
  time,
  timeInput,
  usd,
  usdInput,
  version,
} from "./fields.ts";

/** The current figures of a key's day or week. */
const keySpan = z.object({ spent_usd: usd, held_usd: usd, resets_at: time }).nullable();

export const keyRecord = z
  .object({
    id: z.string(),
    org: z.string(),
    name: z.string(),
    scope: tier,
    prefix: z.string(),
    last_four: z
      .string()
      .nullable()
      .describe("The last characters of the whole key; null for a key created before they were stored."),
    limit_usd: usd.nullable().describe("Spend limit per UTC calendar month; null = none."),
    day_limit_usd: usd.nullable().describe("The same per UTC day."),
    week_limit_usd: usd.nullable().describe("The same per week, from Monday 00:00 UTC."),
    allowed_models: z
      .array(z.string())
      .nullable()
      .describe("The models it may use; null = every model of its scope."),
    max_output_tokens: z
      .int()
      .nullable()
      .describe("The maximum output of its requests in tokens; null = the model's maximum."),
    expires_at: time.nullable().describe("From then on the key is refused permanently; null = never."),
    month: z.string().describe("The UTC month of the two figures below."),
    month_spend_usd: usd,
    held_usd: usd,
    day: keySpan.describe("Null without a daily limit."),
    week: keySpan.describe("Null without a weekly limit."),
    status: z.enum(["active", "paused", "expired", "revoked"]),
    blocked_by_limit: z.boolean().describe("Spend and open holds have reached one of its limits."),
    blocked_until: time.nullable().describe("When the last of the reached limits is reset."),
    created_at: time,
    last_used_at: time.nullable(),
    paused_at: time.nullable(),
    revoked_at: time.nullable(),
    version: z
      .string()
      .describe(
        "The version of its name and settings; a change that sends it is refused if somebody else changed the key first.",
      ),
  })
  .meta({ id: "Key" });
export const keyRecordList = listOf(keyRecord).meta({ id: "KeyList" });
export const createdKeyRecord = keyRecord
  .extend({
    secret: z
      .string()
      .nullable()
      .describe(
        "The whole key, shown once: null if the same Idempotency-Key is sent again. If the first response was lost, replace the key.",
      ),
  })
  .meta({ id: "CreatedKey" });

export const key = keyRecord.extend({
  /** Null for a key created on the command line. `left`: no longer a member of the organization. */
  created_by: personRef.extend({ left: z.boolean() }).nullable(),
  state: z.enum(["active", "blocked_by_limit", "paused", "expired", "revoked"]),
  /** Until the first of its limits is reached, at least 0; null without a limit. */
  left_usd: usd.nullable(),
  /** When the reached limit, or otherwise the month, is reset. */
  resets_at: time,
  /**
   * The UTC day on which it will reach its monthly limit at the rate of its last seven days; null means not
   * this month, or unknown.
   */
  reaches_limit_on: z.iso.date().nullable(),
  /** True if this person may edit, replace and revoke it. */
  changeable: z.boolean(),
});
/** How many of all its keys were revoked, and how many have expired. */
export const keyList = listOf(key).extend({ revoked: count, expired: count });
/**
 * The keys in a list; `not_over`: neither revoked nor expired, `usable`: able to make requests, apart from
 * limits.
 */
const KEY_STATES = [
  "all",
  "not_over",
  "usable",
  "active",
  "blocked_by_limit",
  "paused",
  "expired",
  "revoked",
] as const;
export const keysQuery = z.strictObject({
  ...page,
  /** A part of its name, prefix, last four characters or id. */
  search: z.string().max(200).optional(),
  state: z.enum(KEY_STATES).optional(),
  scope: tier.optional(),
  /** A model that its own list of models allows. */
  model: z.string().max(200).optional(),
  /** A person's id; `left`: everybody who is no longer a member. */
  by: z.string().max(100).optional(),
});
/** Oldest first. `search`: a part of its name, prefix, last four characters or id. */
export const keyRecordsQuery = z.strictObject({
  org: orgId,
  ...recordsPage,
  search: searchText.optional().describe("A part of its name, prefix, last four characters or id."),
  state: z
    .enum(KEY_STATES)
    .optional()
    .describe("`not_over`: neither revoked nor expired; `usable`: neither paused nor over; default: all."),
  scope: tier.optional(),
});
/** `search`: a part of the name or of the address, or the whole id. */
export const keyMakersQuery = z.strictObject({ search: z.string().max(200).optional() });
/** People who created keys of the organization, those with the most live ones first. */
export const keyMakers = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string(), left: z.boolean(), keys: count })),
  next_cursor: z.null(),
  /** Whatever the search: active keys of people who are no longer members. */
  orphans: count,
});

const keyRef = z.object({ id: z.string(), name: z.string(), last_four: z.string().nullable() }).nullable();
/** The key with its last day by model, its open holds, its predecessor and its successor. */
export const keyDetail = key.extend({
  replaces: keyRef,
  /** The newest one. */
  replaced_by: keyRef,
  last_day: z.array(z.object({ model: z.string(), requests: count, charge_usd: usd })),
  open_holds: count,
});
/** The only response with the secret; null if the same Idempotency-Key showed it before. */
export const createdKey = key.extend({ secret: z.string().nullable(), replaces: z.string().nullable() });

const allowedModels = z
  .array(z.string().min(1).max(200))
  .min(1, "must name at least one model")
  .max(100)
  .nullable();
const maxOutputTokens = z.int().min(1).max(100_000_000).nullable();
const expiresAt = timeInput.nullable();

/** The settings of a new key. */
const settingsInput = <Amount extends z.ZodType<string>>(amount: Amount) => ({
  limit_usd: amount.nullable().default(null).describe("Spend limit per UTC calendar month; null = none."),
  day_limit_usd: amount.nullable().default(null).describe("The same per UTC day."),
  week_limit_usd: amount.nullable().default(null).describe("The same per week, from Monday 00:00 UTC."),
  allowed_models: allowedModels
    .default(null)
    .describe("The models it may use; null = every model of its scope."),
  max_output_tokens: maxOutputTokens.default(null).describe("The maximum output of its requests in tokens."),
  expires_at: expiresAt.default(null).describe("From then on the key is refused permanently."),
});
/** Omitted fields stay unchanged. */
const settingsChange = <Amount extends z.ZodType<string>>(amount: Amount) => ({
  limit_usd: amount.nullable().optional(),
  day_limit_usd: amount.nullable().optional(),
  week_limit_usd: amount.nullable().optional(),
  allowed_models: allowedModels.optional(),
  max_output_tokens: maxOutputTokens.optional(),
  expires_at: expiresAt.optional(),
});
const changesSomething = (input: object): boolean =>
  Object.entries(input).some(
    ([field, value]) => !["org", "key", "version"].includes(field) && value !== undefined,
  );

/** The longest overlap of two keys: a year. */
const OVERLAP_MAX_HOURS = 8784;
const replacing = {
  overlap_hours: z
    .number()
    .min(0)
    .max(OVERLAP_MAX_HOURS)
    .nullable()
    .default(null)
    .describe("The replaced key expires after this time; null = it works until it is revoked."),
  expires_at: expiresAt
    .optional()
    .describe("The new key's expiry; by default that of the key that it replaces."),
};
export const replaceKeyInput = z.strictObject({ org: id, key: id, ...replacing });

export const createKeyRecordInput = z
  .strictObject({
    org: orgId,
    name: line(),
    scope: tier.default("standard"),
    ...settingsInput(exactUsdInput),
  })
  .meta({ id: "CreateKey" });
export const createKeyInput = z.strictObject({
  org: id,
  name: line(),
  scope: tier.default("standard"),
  ...settingsInput(usdInput),
});
/** Omitted fields stay unchanged. */
export const editKeyInput = z
  .strictObject({
    org: id,
    key: id,
    name: line().optional(),
    ...settingsChange(usdInput),
    version,
  })
  .refine(changesSomething, "needs a name or a setting");

const madeOn = version
  .optional()
  .describe(
    "The version of the key that the change is based on: refused with 409 if the key has changed since.",
  );
export const renameKeyInput = z
  .strictObject({ key: keyId, name: line(), version: madeOn })
  .meta({ id: "RenameKey" });
export const updateKeyInput = z
  .strictObject({ key: keyId, name: line().optional(), ...settingsChange(exactUsdInput), version: madeOn })
  .refine(changesSomething, "needs a name or a setting")
  .meta({ id: "UpdateKey" });
export const replaceKeyRecordInput = z.strictObject({ key: keyId, ...replacing }).meta({ id: "ReplaceKey" });
export const limitKeyInput = z
  .strictObject({ key: keyId, usd: exactUsdInput.nullable(), version: madeOn })
  .meta({ id: "LimitKey" });

export type KeysAsk = Pick<z.output<typeof keysQuery>, "model" | "scope" | "search" | "state">;
export type KeyRecordsQuery = z.output<typeof keyRecordsQuery>;
export type KeyJson = z.output<typeof keyRecord>;
/** As created; only a repeat of the call lacks the secret. */
export type CreatedKeyJson = z.output<typeof createdKeyRecord> & { secret: string };
export type ListedKey = z.output<typeof key>;
export type KeyDetail = z.output<typeof keyDetail>;
export type ReplaceKey = Omit<z.output<typeof replaceKeyInput>, "org">;
type NewKey = z.output<typeof createKeyRecordInput>;
/** Omitted settings are unlimited. */
export type CreateKey = Pick<NewKey, "org" | "name" | "scope"> & Partial<NewKey>;
