// The overview of an organization. Every figure comes from the ledger; nothing is summed in a browser.
import { z } from "zod";
import { balanceSchema } from "./records.ts";
import { refusalCause } from "./refusal-causes.ts";
import { count, milliseconds, routeState, time, usd, window } from "./fields.ts";

export const overviewQuery = z.strictObject({ range: window.range });
/** Compared with as many hours before; for a month, with the same part of the month before. */
const beside = {
  /** Charged requests only. */
  requests: count,
  charge_usd: usd,
  before_usd: usd,
  /** With a sign, like `+20.0`; null if nothing came before. */
  percent: z.string().nullable(),
};
/** The share of today's spend, in whole percent; null if none accounts for half of it. */
const percentOfIt = z.int().min(0).max(100);

export const overview = z.object({
  balance: balanceSchema,
  /** The mean daily charge of the last 7 days. */
  burn_usd_per_day: usd,
  /** Available ÷ burn, rounded down; null if nothing is spent. */
  days_left: count.nullable(),
  spend_today_usd: usd,
  spend_month_usd: usd,
  from: time,
  to: time,
  /** The start of the preceding period. */
  before_from: time,
  /** For the window, in whole hours. */
  spend: z.object(beside),
  /** Today compared with a usual day; null if it is not unusual, or too few days are known. */
  unusual: z
    .object({
      spent_usd: usd,
      usual_usd: usd,
      /** Today's spend as a multiple of a usual day's, with one decimal, rounded down. */
      times: z.string(),
      key: z.object({ id: z.string(), name: z.string(), percent: percentOfIt }).nullable(),
      model: z.object({ id: z.string(), percent: percentOfIt }).nullable(),
    })
    .nullable(),
  /** For the window: all requests with a hold, whatever their outcome. */
  requests: count,
  running: count,
  /** All refused requests. */
  refused: count,
  /** By cause, the most frequent first; at most 12. */
  refusals: z.array(refusalCause),
  /** Requests that ended with 5xx ÷ all ended ones; 0 without any. */
  error_rate: z.number(),
  first_part_ms: z.object({ p50: milliseconds.nullable(), p95: milliseconds.nullable() }),
  top_keys: z.array(z.object({ key: z.string(), name: z.string(), ...beside })),
  top_models: z.array(z.object({ model: z.string(), ...beside })),
  /** Routes of the models that this organization used in 30 days. */
  routes: z.array(
    z.object({
      route: z.string(),
      model: z.string(),
      provider: z.string(),
      region: z.string(),
      state: routeState,
      reason: z.string().nullable(),
      /** Null if its release is damaged and the expiry unknown. */
      expires_at: time.nullable(),
    }),
  ),
  attention: z.array(
    z.object({
      kind: z.enum([
        "stopped",
        "key_near_limit",
        "key_at_limit",
        "key_blocked_by_holds",
        "entitlement_ends",
        "low_balance",
        "debt",
        "route_closed",
        "release_ends",
        "top_up_failed",
        "alert_holds",
      ]),
      /** The id of the key, entitlement or alert rule, or the route. */
      target: z.string().nullable(),
      /** The text that finds it on its page. */
      search: z.string().nullable(),
      text: z.string(),
    }),
  ),
  /** For the first-run steps. */
  steps: z.object({
    key: z.boolean(),
    first_request: z.boolean(),
    credits: z.boolean(),
    invited: z.boolean(),
  }),
});
