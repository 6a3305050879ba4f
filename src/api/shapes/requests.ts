// A request's record, and the log entry of one that held nothing (interfaces.md §2 and §5). No content.
import { EVIDENCE } from "../../domain/gateway-object.ts";
import { classCountsShape } from "../../domain/class-shapes.ts";
import { SURFACES } from "../../domain/surfaces.ts";
import { TOKEN_CLASSES } from "../../domain/token-classes.ts";
import { z } from "zod";
import { count, milliseconds, tier, time, usd } from "./fields.ts";

/** docs/money.md explains each. */
export const doubt = z.enum(["usage_clamped", "usage_below_delivered", "output_above_maximum"]);

const classCounts = {
  ...classCountsShape(count),
  calls: count.optional().describe("Paid calls on the provider's side, such as web searches."),
};
/** Exact decimal strings of US dollars, without trailing zeros. */
const costLine = z.object({
  class: z.enum([...TOKEN_CLASSES, "calls", "rounding", "request_minimum", "above_hold", "operator"]),
  tokens: count.optional(),
  calls: count.optional(),
  usd_per_million: z.string().optional(),
  usd_per_thousand: z.string().optional(),
  amount_usd: z.string(),
});

/** The endpoint of `/v1` that a request came to. */
const SURFACE = `The surface of /v1: ${SURFACES.join(", ")}.`;

const attemptSchema = z
  .object({
    n: count,
    route: z.string(),
    provider: z.string(),
    outcome: z.enum(["not_executed", "failed", "answered", "unknown"]),
    status: z.int().nullable().describe("The provider's HTTP status."),
    upstream_id: z.string().nullable(),
    error_class: z.string().nullable(),
    words: z.string().nullable().describe("The provider's message about its failure, redacted."),
    started_at: time,
    ms: milliseconds,
    doubts: z.array(doubt).describe("Why the provider's figures were not accepted unchanged."),
    told: z
      .object({
        prompt_tokens: count,
        completion_tokens: count,
        cached_tokens: count.nullable(),
        ...classCounts,
      })
      .nullable()
      .describe("The usage it reported beyond the quoted bounds; the variance is computed from it."),
  })
  .meta({ id: "Attempt" });

const gatewaySchema = z
  .object({
    request_id: z.string(),
    idempotency: z.object({
      key: z.string(),
      caller_supplied: z.boolean(),
      cross_request_replay_safe: z.boolean(),
    }),
    public_model: z.string(),
    provider: z.string(),
    route: z.object({
      public_model: z.string(),
      provider: z.string(),
      region: z.string(),
      release_version: count,
    }),
    access: z.object({ tier, research_mode: z.boolean() }),
    cost: z
      .object({
        input_tokens: count,
        output_tokens: count,
        customer_charge_usd: z.number().min(0),
        currency: z.literal("USD"),
        minimum_applied: z.boolean(),
        evidence: z.enum(EVIDENCE),
        lines: z.array(costLine).describe("They add up to the charge, exactly."),
      })
      .optional()
      .describe("Omitted while the request is running."),
    attempts: count,
  })
  .meta({ id: "Gateway" });

/** The state of a ledger record. */
export const requestState = z.enum(["running", "settled", "released", "outcome_unknown"]);

export const requestSchema = z
  .object({
    id: z.string(),
    org: z.string(),
    key: z.string(),
    state: requestState,
    status: z.int().nullable(),
    error_code: z.string().nullable(),
    finish_reason: z.string().nullable(),
    surface: z.string().describe(SURFACE),
    stream: z.boolean(),
    admitted_at: time,
    ended_at: time.nullable(),
    month: z.string(),
    hold_usd: usd,
    charge_usd: usd,
    refunded_usd: usd.describe(
      "The part of the charge refunded later; receipt and usage keep the full charge.",
    ),
    variance_usd: usd.describe("The price of usage beyond the charge; the platform pays it."),
    bounds: z.object({ prompt_tokens: count, output_tokens: count }),
    usage: z
      .object({
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        cached_tokens: count.nullable(),
        ...classCounts,
        reasoning_tokens: count.nullable(),
      })
      .nullable(),
    release_digest: z.string(),
    gateway: gatewaySchema,
    attempts: z.array(attemptSchema),
    timings: z.object({ first_part_ms: milliseconds.nullable(), total_ms: milliseconds.nullable() }),
  })
  .meta({ id: "Request" });

/** The maximum hold of a request, and its token bounds. */
export const asked = z.object({
  prompt_tokens: count.describe("An upper bound: the byte bound, or the exact count."),
  prompt_counted: z.boolean().nullable().describe("Null if not recorded."),
  output_tokens: count.describe("The output maximum times n."),
  hold_usd: usd,
});
export const refusalDetails = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export const heldNothingSchema = z
  .object({
    id: z.string(),
    org: z.string(),
    key: z.string().nullable().describe("Null in a row that counts several keys."),
    state: z.enum(["refused", "replay"]),
    status: z.int(),
    error_code: z.string().nullable(),
    model: z
      .string()
      .nullable()
      .describe("As requested; null if the request was refused before its model was read."),
    surface: z.string().nullable().describe(`${SURFACE} Null in a row that counts several.`),
    stream: z.boolean(),
    received_at: time,
    idempotency_key: z.string().nullable(),
    replay_of: z.string().nullable().describe("The paid request."),
    waited_ms: milliseconds.nullable(),
    asked: asked.nullable().describe("Null if refused before it had a price."),
    details: refusalDetails.nullable().describe("The figures in the refusal."),
    requests: count.describe("More than 1: requests beyond the quota of rows are counted in this row."),
    last_at: time.nullable(),
  })
  .meta({ id: "RequestThatHeldNothing" });

export type RequestJson = z.output<typeof requestSchema>;
export type HeldNothingJson = z.output<typeof heldNothingSchema>;
