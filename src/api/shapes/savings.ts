// What replays saved, and what the same tokens would have cost elsewhere.
import { z } from "zod";
import { count, time, usageFigures, usd } from "./fields.ts";
import { holdsQuery } from "./holds.ts";

export const savingsQuery = holdsQuery;

export const savings = z.object({
  from: time,
  to: time,
  /** Requests answered with the result of an earlier, paid request. */
  replays: count,
  /** The cost of those earlier requests, once per repeat. */
  replayed_usd: usd,
  /** The tokens of the window, in whole hours; without embeddings. */
  used: z.object(usageFigures),
  /** Other models that are open to the organization now, the cheapest first; at most 20. */
  elsewhere: z.array(
    z.object({
      model: z.string(),
      /** The same tokens at its published price, and at least its minimum for each request. */
      charge_usd: usd,
      /** The difference to the charge, with a sign, like `-35.0`; null if nothing was charged. */
      percent: z.string().nullable(),
    }),
  ),
});
