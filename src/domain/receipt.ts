// The signed receipt of one request: what a customer keeps to prove a charge, and what an auditor recomputes it from. It is
// complete: quote, hold, usage, the release's published prices and the arithmetic are all in it.
import { EVIDENCE } from "./gateway-object.ts";
import { z } from "zod";
import { classCountsShape, ratesShape } from "./class-shapes.ts";

export const RECEIPT_ISSUER = "tollgate";
export const RECEIPT_ALGORITHM = "EdDSA";

const tokens = z.int().min(0);
/** Decimal text with nine places, in US dollars. */
const usd = z.string().regex(/^\d+\.\d{9}$/);

const counts = {
  prompt_tokens: tokens,
  cached_tokens: tokens,
  completion_tokens: tokens,
  ...classCountsShape(tokens),
};
const rates = ratesShape(z.string());

export const receiptSchema = z.object({
  request_id: z.string(),
  org: z.string(),
  key: z.string(),
  state: z.enum(["settled", "released", "outcome_unknown"]),
  admitted_at: z.string(),
  ended_at: z.string(),
  /** The release that priced the request, with its prices as published: US dollars per million tokens. */
  release: z.object({
    route: z.string(),
    version: z.int(),
    digest: z.string(),
    signed_by: z.string(),
    pricing: z.object({
      ...rates,
      request_minimum: z.string(),
      per_call: z.string().optional(),
      calls_max: z.int().optional(),
      tiers: z.array(z.object({ above_prompt_tokens: tokens, ...rates })).optional(),
      service_tiers: z.record(z.string(), z.string()).optional(),
    }),
  }),
  /** The maximum that the request could have cost; held before the provider was called. */
  hold: z.object({ usd, prompt_tokens_max: tokens, output_tokens_max: tokens }),
  /** As reported by the provider, or as counted; null if nothing was charged. */
  usage: z.object(counts).nullable(),
  /** What the provider reported beyond the quoted bounds: not charged, paid by the platform. */
  told: z.object(counts).optional(),
  charge: z.object({
    evidence: z.enum(EVIDENCE),
    /** min(max(⌈usage × price⌉, request minimum), hold). */
    usd,
    minimum_applied: z.boolean(),
    /** Paid by the platform: the price of the usage beyond the charge. */
    above_hold_usd: usd,
    returned_usd: usd,
  }),
  /** The `gateway` object of the answer. */
  gateway: z.looseObject({ request_id: z.string() }),
});

export type ReceiptJson = z.infer<typeof receiptSchema>;
