// API keys on the dashboard: the record of the operator API, with who made it and what is left of its limit.
import { z } from "zod";
import { keySchema } from "../admin.ts";
import { count, line, listOf, personRef, tier, time, usd, usdInput, version } from "./shapes.ts";

export const key = keySchema.extend({
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

export const createKeyInput = z.strictObject({
  name: line(),
  scope: tier.default("standard"),
  limit_usd: usdInput.nullable().default(null),
});
/** The only answer with the secret; null when the same Idempotency-Key had shown it before. */
export const createdKey = key.extend({ secret: z.string().nullable(), replaces: z.string().nullable() });
/** What is left out stays as it is. */
export const editKeyInput = z
  .strictObject({ name: line().optional(), limit_usd: usdInput.nullable().optional(), version })
  .refine(({ name, limit_usd }) => name !== undefined || limit_usd !== undefined, "needs a name or a limit");
