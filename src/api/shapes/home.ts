// The operator's first page, block by block: traffic, margin, providers, and what needs attention soon.
import { z } from "zod";
import { count, listOf, milliseconds, time, usd } from "./fields.ts";

const share = z.number().min(0).max(1);
const sums = z.object({
  /** Settled requests, as usage counts them. */
  requests: count,
  charge_usd: usd,
  input_tokens: count,
  output_tokens: count,
});

/** In whole UTC hours: the last 24 begun, and the 24 before. */
export const homeTraffic = z.object({
  from: time,
  to: time,
  now: sums,
  before: sums,
  running: count,
  /** The share of requests with a hold that ended with 5xx or without an answer. */
  error_rate: share,
  refused: count,
  hours: z.array(z.object({ at: time, requests: count, charge_usd: usd })),
});

/**
 * Equal if one price applies; different if routes have different costs, or a price has tiers by prompt
 * length.
 */
const between = <One extends z.ZodType>(one: One) => z.object({ least: one, most: one });

/** Over 30 days. */
export const homeMargin = z.object({
  from: time,
  to: time,
  charge_usd: usd,
  /** Paid by the platform: price above charges. */
  variance_usd: usd,
  /** For models whose cost is known: their charges, and their provider's list price for the same tokens. */
  known_charge_usd: usd,
  list_cost_usd: between(usd),
  /** Null if no cost is known. */
  margin_percent: between(z.number()).nullable(),
  /** The table of list prices, and its date. */
  source: z.string(),
  models: z.array(
    z.object({
      model: z.string(),
      charge_usd: usd,
      /** Null if unknown. */
      list_cost_usd: between(usd).nullable(),
      margin_percent: between(z.number()).nullable(),
      /** Why it is unknown. */
      unknown: z.enum(["not_listed", "no_route"]).nullable(),
    }),
  ),
});

/** Worst first, over 24 hours. */
export const homeProviders = listOf(
  z.object({
    provider: z.string(),
    /** Partly live if only some of its routes are live. */
    state: z.enum(["live", "partly_live", "unhealthy", "stale", "disabled", "none"]),
    /** The reason for its worst route, and since when. */
    reason: z.string().nullable(),
    since: time.nullable(),
    routes: count,
    live_routes: count,
    /** Calls, including failed-over ones. */
    attempts: count,
    failed: count,
    /** The most frequent class of failure. */
    error: z.string().nullable(),
    /** The share of calls that did not fail; null without calls. */
    served: share.nullable(),
    first_part_ms_p50: milliseconds.nullable(),
  }),
);

/**
 * First organizations whose credits last less than three days, the soonest first; then requests for Research
 * Mode, the oldest first. 20 of each at most.
 */
export const homeWaiting = listOf(
  z.object({
    kind: z.enum(["credits", "entitlement"]),
    /** The id of the organization or the entitlement. */
    id: z.string(),
    org: z.string(),
    org_name: z.string(),
    /** The requested model; null for credits. */
    model: z.string().nullable(),
    /** The credits available, and the daily spend; null for an entitlement. */
    available_usd: usd.nullable(),
    burn_usd_per_day: usd.nullable(),
    /** When it was requested; null for credits. */
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
