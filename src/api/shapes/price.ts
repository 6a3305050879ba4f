// The price of a release as published, and a comparison of two prices (providers.md §4).
import { z } from "zod";
import { ratesShape } from "../../domain/class-shapes.ts";
import { count, time, usd } from "./fields.ts";

const rate = z.string();
const rates = ratesShape(rate);

export const publishedPriceSchema = z
  .object({
    ...rates,
    request_minimum: rate,
    per_call: rate.optional().describe("US dollars per 1,000 paid calls on the provider's side."),
    calls_max: count.optional(),
    tiers: z.array(z.object({ above_prompt_tokens: count, ...rates })).optional(),
    service_tiers: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: "PublishedPrice" });

export const priceLineSchema = z.object({
  price: z.string(),
  above_prompt_tokens: count.nullable(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  percent: z.string().nullable(),
});

export const modelUseQuery = z.strictObject({ model: z.string().min(1).max(200) });
export const modelUseSchema = z
  .object({
    model: z.string(),
    since: time.describe("The first hour counted, thirty days ago."),
    organizations: count,
    requests: count,
    charge_usd: usd,
    data: z
      .array(z.object({ org: z.string(), name: z.string(), requests: count, charge_usd: usd }))
      .describe("Those with the most requests, at most twenty."),
  })
  .meta({ id: "ModelUse" });
