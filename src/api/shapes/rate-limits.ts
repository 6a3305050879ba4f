// Rate limits, as set and as in force: requests and tokens per minute, requests at once (operate.md §1).
import { z } from "zod";
import { RATE_AT_MOST, RATE_DIMENSIONS, type RateDimension } from "../../domain/rate-limits.ts";
import { count, id, keyId, orgId, version, wholeListOf } from "./fields.ts";

const limit = (dimension: RateDimension) =>
  z
    .int(`must be a whole number from 1 to ${RATE_AT_MOST[dimension]}, or null`)
    .min(1, "must be at least 1, or null to lift it")
    .max(RATE_AT_MOST[dimension])
    .nullable()
    .meta({ examples: [60] });

const limits = z.object({
  requests_per_minute: count.nullable(),
  tokens_per_minute: count.nullable(),
  concurrent: count.nullable(),
});

/** Omitted limits stay unchanged; null removes a limit. */
const change = {
  requests_per_minute: limit("requests_per_minute").optional(),
  tokens_per_minute: limit("tokens_per_minute").optional(),
  concurrent: limit("concurrent").optional(),
};
const model = z.string().min(1).max(200);

const saysSomething = (input: { [D in RateDimension]?: number | null | undefined }): boolean =>
  RATE_DIMENSIONS.some((dimension) => input[dimension] !== undefined);
const NOTHING_SAID = `must name one of ${RATE_DIMENSIONS.join(", ")}`;

/**
 * `by`: who sets them. An operator's limit, or the organization's own, which cannot be higher; by default,
 * for somebody who may set both, the operator's.
 */
export const setRateLimitInput = z
  .strictObject({
    org: id,
    key: keyId.optional(),
    model: model.optional(),
    by: z.enum(["operator", "organization"]).optional(),
    ...change,
    version,
  })
  .refine(saysSomething, NOTHING_SAID);

/** A model's limits for each organization separately: set by an operator, on a page. */
export const modelLimitQuery = z.strictObject({ model });
export const setModelLimitInput = z
  .strictObject({ model, ...change, version })
  .refine(saysSomething, NOTHING_SAID);

const madeOn = version
  .optional()
  .describe(
    "The version of the limits that the change is based on: refused with 409 if they have changed since. Limits never set have a version, too.",
  );

/** Without any of them: the limits on models for each organization. */
export const listRateLimitsInput = z.strictObject({
  org: orgId.optional(),
  key: keyId.optional(),
  model: model.optional(),
});

/**
 * An operator's limits: for an organization, a key (whose organization is known), or a model for each
 * organization.
 */
export const setRateLimitRecordInput = z
  .strictObject({
    org: orgId.optional(),
    key: keyId.optional(),
    model: model.optional(),
    ...change,
    version: madeOn,
  })
  .refine(saysSomething, NOTHING_SAID)
  .refine(
    ({ org, key, model: named }) => org !== undefined || key !== undefined || named !== undefined,
    "must name an org, a key or a model",
  );

export const rateLimit = z
  .object({
    subject: z.enum(["organization", "key", "model", "key_model"]),
    org: z.string().nullable().describe("Null means each organization separately."),
    key: z.string().nullable(),
    model: z.string().nullable(),
    set: limits.describe("Set by an operator."),
    own: limits.describe("Set by the organization itself."),
    in_force: limits.describe("The lower of the two; if the operator set none, the default counts instead."),
    running: count.describe("The number of its requests running now."),
    version,
  })
  .meta({ id: "RateLimit" });
export const rateLimitList = wholeListOf(rateLimit).meta({ id: "RateLimitList" });

export type RateLimitJson = z.output<typeof rateLimit>;
export type ListRateLimits = z.output<typeof listRateLimitsInput>;
export type SetRateLimit = z.output<typeof setRateLimitRecordInput>;
