// What repeats did not cost, and what the same tokens would have cost elsewhere.
import { z } from "zod";
import { count, time, usageFigures, usd } from "./fields.ts";
import { holdsQuery } from "./holds.ts";

export const savingsQuery = holdsQuery;

export const savings = z.object({
  from: time,
  to: time,
  /** Requests that were answered with what an earlier one had paid for. */
  replays: count,
  /** What those earlier ones cost, as often as they were repeated. */
  replayed_usd: usd,
  /** The tokens of the window, in whole hours; without those of vectors. */
  used: z.object(usageFigures),
  /** Other models that are open to the organization now, the cheapest first; at most 20. */
  elsewhere: z.array(
    z.object({
      model: z.string(),
      /** The same tokens at its published price, and no less than its minimum for each request. */
      charge_usd: usd,
      /** Against what was charged, with a sign, like `-35.0`; null where nothing was. */
      percent: z.string().nullable(),
    }),
  ),
});
