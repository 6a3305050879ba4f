// How much of what is held is charged, and what to ask for instead.
import { z } from "zod";
import { count, time, usd, window } from "./fields.ts";

export const holdsQuery = z.strictObject({
  ...window,
  key: z.string().max(60).optional(),
  model: z.string().max(200).optional(),
});

const percent = z.int().min(0);

export const holds = z.object({
  /** Of the window, or where the newest 10,000 requests of the organization begin, if that is later. */
  from: time,
  to: time,
  /** Whether requests of the window are older than that. */
  cut: z.boolean(),
  /** By key and model, what held most first; at most 50. Settled requests alone. */
  rows: z.array(
    z.object({
      key: z.object({ id: z.string(), name: z.string() }),
      model: z.string(),
      requests: count,
      held_usd: usd,
      charge_usd: usd,
      /** Charged of held, whole percent, cut; null where nothing was held. */
      used_percent: percent.nullable(),
      /** Output tokens that a request was held for, on the mean. */
      output_bound: count,
      /** Whole answers; those that their maximum ended among them. */
      answers: count,
      ended_by_maximum: count,
      /** 99 of 100 answers have no more output tokens; null without any. */
      output_p99: count.nullable(),
      /** A quarter more than that, in whole 64; null where too little tells of it, or it would save little. */
      suggested_max_tokens: count.nullable(),
      /** What one request would hold less with it, at today's price; null without a suggestion or a price. */
      frees_usd: usd.nullable(),
    }),
  ),
  /** Keys whose limit is reached by running holds alone. */
  blocked: z.array(
    z.object({
      key: z.object({ id: z.string(), name: z.string() }),
      /** Of the limit that they reach. */
      period: z.enum(["day", "week", "month"]),
      limit_usd: usd,
      spent_usd: usd,
      held_usd: usd,
    }),
  ),
});
