// How much of what is held is charged, and what limit to ask for instead.
import { z } from "zod";
import { count, time, usd, window } from "./fields.ts";

export const holdsQuery = z.strictObject({
  ...window,
  key: z.string().max(60).optional(),
  model: z.string().max(200).optional(),
});

const percent = z.int().min(0);

export const holds = z.object({
  /** The start of the window, or of the organization's newest 10,000 requests if later. */
  from: time,
  to: time,
  /** True if requests of the window are older than that. */
  cut: z.boolean(),
  /** By key and model, the largest holds first; at most 50. Settled requests only. */
  rows: z.array(
    z.object({
      key: z.object({ id: z.string(), name: z.string() }),
      model: z.string(),
      requests: count,
      held_usd: usd,
      charge_usd: usd,
      /** Charged as a whole percentage of held, rounded down; null if nothing was held. */
      used_percent: percent.nullable(),
      /** The mean output tokens that a request was held for. */
      output_bound: count,
      /** Complete answers, including those that ended at their maximum. */
      answers: count,
      ended_by_maximum: count,
      /** 99 of 100 answers have at most this many output tokens; null without any. */
      output_p99: count.nullable(),
      /**
       * A quarter more than that, in multiples of 64; null if there is too little data, or little to save.
       */
      suggested_max_tokens: count.nullable(),
      /**
       * By how much one request's hold would shrink at today's price; null without a suggestion or a price.
       */
      frees_usd: usd.nullable(),
    }),
  ),
  /** Keys whose limit is reached only because of running holds. */
  blocked: z.array(
    z.object({
      key: z.object({ id: z.string(), name: z.string() }),
      /** The limit reached. */
      period: z.enum(["day", "week", "month"]),
      limit_usd: usd,
      spent_usd: usd,
      held_usd: usd,
    }),
  ),
});
