// The operator's first page, block by block: how much goes through, what is earned, who serves it, what ends soon.
import { z } from "zod";
import { count, listOf, milliseconds, time, usd } from "./fields.ts";

const share = z.number().min(0).max(1);
const sums = z.object({
  /** Settled, as usage counts them. */
  requests: count,
  charge_usd: usd,
  input_tokens: count,
  output_tokens: count,
});

/** Of whole UTC hours: the last 24 begun, and the 24 before. */
export const homeTraffic = z.object({
  from: time,
  to: time,
  now: sums,
  before: sums,
  running: count,
  /** Of requests that held credits: what ended with 5xx or without an answer. */
  error_rate: share,
  refused: count,
  hours: z.array(z.object({ at: time, requests: count, charge_usd: usd })),
});

/** Both the same where one price holds; apart where routes cost differently, or a price has steps by the prompt's length. */
const between = <One extends z.ZodType>(one: One) => z.object({ least: one, most: one });

/** Of 30 days. */
export const homeMargin = z.object({
  from: time,
  to: time,
  charge_usd: usd,
  /** What the platform paid by itself: price above charges. */
  variance_usd: usd,
  /** Where `known` is true: charges of those models, and what their provider lists for the same tokens. */
  known_charge_usd: usd,
  list_cost_usd: between(usd),
  /** Null where nothing is known. */
  margin_percent: between(z.number()).nullable(),
  /** The table of list prices, and its day. */
  source: z.string(),
  models: z.array(
    z.object({
      model: z.string(),
      charge_usd: usd,
      /** Null where it is not known. */
      list_cost_usd: between(usd).nullable(),
      margin_percent: between(z.number()).nullable(),
      /** Why it is not. */
      unknown: z.enum(["not_listed", "no_route"]).nullable(),
    }),
  ),
});

/** Worst first, of 24 hours. */
export const homeProviders = listOf(
  z.object({
    provider: z.string(),
    /** Partly live while some of its routes are and some are not. */
    state: z.enum(["live", "partly_live", "unhealthy", "stale", "disabled", "none"]),
    /** Why, of its worst route; since when. */
    reason: z.string().nullable(),
    since: time.nullable(),
    routes: count,
    live_routes: count,
    /** Calls, those that failed over included. */
    attempts: count,
    failed: count,
    /** The most frequent class of failure. */
    error: z.string().nullable(),
    /** Share of calls that did not fail; null without calls. */
    served: share.nullable(),
    first_part_ms_p50: milliseconds.nullable(),
  }),
);

/** Whose credits last less than three days first, the soonest of them first; then who asked for Research Mode, the longest first. 20 of each at most. */
export const homeWaiting = listOf(
  z.object({
    kind: z.enum(["credits", "entitlement"]),
    /** Of the organization, or of the entitlement. */
    id: z.string(),
    org: z.string(),
    org_name: z.string(),
    /** Which was asked for; null of credits. */
    model: z.string().nullable(),
    /** Of credits, and at what pace they are spent; null of an entitlement. */
    available_usd: usd.nullable(),
    burn_usd_per_day: usd.nullable(),
    /** When it was asked for; null of credits. */
    since: time.nullable(),
  }),
);

/** The soonest first, 20 at most. */
export const homeEnding = listOf(
  z.object({
    kind: z.enum(["release", "entitlement", "key", "management_key"]),
    id: z.string(),
    title: z.string(),
    org: z.string().nullable(),
    org_name: z.string().nullable(),
    ends_at: time,
    over: z.boolean(),
  }),
);
