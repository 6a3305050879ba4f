// API keys: the record of the operator API, and the dashboard's with who made it and what is left of its limit.
import { z } from "zod";
import {
  count,
  exactUsdInput,
  id,
  keyId,
  line,
  listOf,
  orgId,
  personRef,
  tier,
  time,
  usd,
  usdInput,
  version,
  wholeListOf,
} from "./fields.ts";

export const keyRecord = z
  .object({
    id: z.string(),
    org: z.string(),
    name: z.string(),
    scope: tier,
    prefix: z.string(),
    limit_usd: usd.nullable(),
    month: z.string().describe("The UTC month that the two figures below belong to."),
    month_spend_usd: usd,
    held_usd: usd,
    status: z.enum(["active", "revoked"]),
    blocked_by_limit: z.boolean().describe("The month's spend and open holds have reached the limit."),
    created_at: time,
    last_used_at: time.nullable(),
    revoked_at: time.nullable(),
    version: z
      .string()
      .describe("Of its name and limit; a change that names it is refused when somebody was faster."),
  })
  .meta({ id: "Key" });
export const keyRecordList = wholeListOf(keyRecord).meta({ id: "KeyList" });
export const createdKeyRecord = keyRecord
  .extend({ secret: z.string().describe("The whole key. It is never shown again.") })
  .meta({ id: "CreatedKey" });

export const key = keyRecord.extend({
  /** Null for a key made on the command line. `left`: the member is no longer of the organization. */
  created_by: personRef.extend({ left: z.boolean() }).nullable(),
  state: z.enum(["active", "blocked_by_limit", "revoked"]),
  /** Limit − month spend − held, at least 0; null without a limit. */
  left_usd: usd.nullable(),
  /** When the limit counts from zero again. */
  resets_at: time,
  /** Whether this person may edit, replace and revoke it. */
  changeable: z.boolean(),
});
export const keyList = listOf(key).extend({ revoked: count });

/** What a revocation dialog shows: the key, its last day by model, its open holds. */
export const keyDetail = key.extend({
  last_day: z.array(z.object({ model: z.string(), requests: count, charge_usd: usd })),
  open_holds: count,
});
/** The only answer with the secret; null when the same Idempotency-Key had shown it before. */
export const createdKey = key.extend({ secret: z.string().nullable(), replaces: z.string().nullable() });

export const createKeyRecordInput = z
  .strictObject({
    org: orgId,
    name: line(),
    scope: tier.default("standard"),
    limit_usd: exactUsdInput
      .nullable()
      .default(null)
      .describe("Spend limit per UTC calendar month; null = none."),
  })
  .meta({ id: "CreateKey" });
export const createKeyInput = z.strictObject({
  org: id,
  name: line(),
  scope: tier.default("standard"),
  limit_usd: usdInput.nullable().default(null),
});
/** What is left out stays as it is. */
export const editKeyInput = z
  .strictObject({
    org: id,
    key: id,
    name: line().optional(),
    limit_usd: usdInput.nullable().optional(),
    version,
  })
  .refine(({ name, limit_usd }) => name !== undefined || limit_usd !== undefined, "needs a name or a limit");

const madeOn = version
  .optional()
  .describe("The key's version that this was made on: refused with 409 when it has another one by now.");
export const renameKeyInput = z
  .strictObject({ key: keyId, name: line(), version: madeOn })
  .meta({ id: "RenameKey" });
export const limitKeyInput = z
  .strictObject({ key: keyId, usd: exactUsdInput.nullable(), version: madeOn })
  .meta({ id: "LimitKey" });

export type KeyJson = z.output<typeof keyRecord>;
export type CreatedKeyJson = z.output<typeof createdKeyRecord>;
export type KeyRow = z.output<typeof key>;
export type KeyDetail = z.output<typeof keyDetail>;
export type CreateKey = z.output<typeof createKeyRecordInput>;
