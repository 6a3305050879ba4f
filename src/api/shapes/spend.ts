// What was used and what it cost: overview, usage, activity. Every figure is of the ledger; nothing is summed in a
// browser.
import { ACTIVITY_STATES } from "../../domain/activity-states.ts";
import { EVIDENCE } from "../../domain/gateway-object.ts";
import { SURFACES } from "../../domain/surfaces.ts";
import { TOKEN_CLASSES } from "../../domain/token-classes.ts";
import { z } from "zod";
import { balanceSchema } from "./records.ts";
import { asked, refusalDetails, requestSchema } from "./requests.ts";
import { receiptSchema } from "../../domain/receipt.ts";
import { refusalCause } from "./refusal-causes.ts";
import { orgQuery } from "./record-inputs.ts";
import { buckets, count, line, listOf, milliseconds, page, tier, time, usd, window } from "./fields.ts";

// ── Overview ────────────────────────────────────────────────────────────────────────────────────────────────────

export const overviewQuery = z.strictObject({ range: window.range });
const routeState = z.enum(["live", "unhealthy", "stale", "disabled"]);
/** Beside as many hours before; of a month the same part of the month before. */
const beside = {
  /** Those that were charged. */
  requests: count,
  charge_usd: usd,
  before_usd: usd,
  /** With a sign, like `+20.0`; null where nothing came before. */
  percent: z.string().nullable(),
};
/** Of today's spend, whole percent; null where none has half of it. */
const percentOfIt = z.int().min(0).max(100);

export const overview = z.object({
  balance: balanceSchema,
  /** Mean charge of a day over the last 7 days. */
  burn_usd_per_day: usd,
  /** Available ÷ burn, rounded down; null when nothing is spent. */
  days_left: count.nullable(),
  spend_today_usd: usd,
  spend_month_usd: usd,
  from: time,
  to: time,
  /** Where the period before begins. */
  before_from: time,
  /** Of the window, in whole hours. */
  spend: z.object(beside),
  /** Today beside a usual day; null where it is like others, or too few days tell what is usual. */
  unusual: z
    .object({
      spent_usd: usd,
      usual_usd: usd,
      /** Usual days in today, with one decimal, cut. */
      times: z.string(),
      key: z.object({ id: z.string(), name: z.string(), percent: percentOfIt }).nullable(),
      model: z.object({ id: z.string(), percent: percentOfIt }).nullable(),
    })
    .nullable(),
  /** Of the window: all that held credits, whatever became of them. */
  requests: count,
  running: count,
  /** All that were turned away. */
  refused: count,
  /** By cause, the most frequent first; at most 12. */
  refusals: z.array(refusalCause),
  /** Requests that ended in a 5xx ÷ all ended ones; 0 without any. */
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
      /** Null where its release is damaged and nothing tells. */
      expires_at: time.nullable(),
    }),
  ),
  attention: z.array(
    z.object({
      kind: z.enum([
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
      /** Id of the key, entitlement or alert rule, or the route. */
      target: z.string().nullable(),
      /** What finds it on its page. */
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

// ── Usage ───────────────────────────────────────────────────────────────────────────────────────────────────────

const usageGroup = z.enum(["model", "key", "member", "scope", "provider", "region"]);
export const usageQuery = z.strictObject({
  ...window,
  group_by: usageGroup.optional(),
  /** A second grouping inside the first. */
  then_by: usageGroup.optional(),
  key: z.string().max(60).optional(),
  model: z.string().max(200).optional(),
});
const figures = {
  /** Those that were charged. */
  requests: count,
  input_tokens: count,
  cached_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  charge_usd: usd,
};
export const usage = z.object({
  org: z.string(),
  ...buckets,
  group_by: usageGroup.nullable(),
  then_by: usageGroup.nullable(),
  total: z.object(figures),
  /** The 100 dearest groups, dearest first; with `others`, the sum of any column is the total's. One row with null without grouping. */
  rows: z.array(
    z.object({ group: z.string().nullable(), second: z.string().nullable(), label: z.string(), ...figures }),
  ),
  /** At most 400 starts of buckets, UTC. */
  at: z.array(time),
  /** All groups that are in no row, added up. */
  others: z.object({ groups: count, ...figures }).nullable(),
  /** Of the first 8 rows, in their order; `figures[i]` is of bucket `at[i]`, null where nothing was used. */
  series: z.array(
    z.object({
      group: z.string().nullable(),
      second: z.string().nullable(),
      figures: z.array(z.object(figures).nullable()),
    }),
  ),
  /** Of all groups that have no series, added up. */
  others_series: z.array(z.object(figures).nullable()).nullable(),
});

/** A person's own view of Usage: the query of its address, which the page reads as it reads any other. */
export const usageView = z.object({ id: z.string(), name: z.string(), query: z.string() });
export const usageViewList = listOf(usageView);
export const usageViewInput = z.strictObject({ name: line(60), query: z.string().max(1000) });

// ── Activity ────────────────────────────────────────────────────────────────────────────────────────────────────

const activityState = z.enum(ACTIVITY_STATES);
export const activityQuery = z.strictObject({
  ...page,
  ...window,
  state: activityState.optional(),
  key: z.string().max(60).optional(),
  model: z.string().max(200).optional(),
  surface: z.enum(SURFACES).optional(),
  code: z.string().max(60).optional(),
  /** Request id, completion id or Idempotency-Key, whole. */
  find: z.string().max(200).optional(),
});
const activityRow = z.object({
  id: z.string(),
  at: time,
  state: activityState,
  status: z.int().nullable(),
  code: z.string().nullable(),
  model: z.string().nullable(),
  /** Null in a row that tells of several. */
  surface: z.string().nullable(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  scope: tier.nullable(),
  key: z.object({ id: z.string(), name: z.string() }),
  input_tokens: count.nullable(),
  cached_tokens: count.nullable(),
  cache_write_tokens: count.nullable(),
  output_tokens: count.nullable(),
  hold_usd: usd,
  charge_usd: usd,
  first_part_ms: milliseconds.nullable(),
  total_ms: milliseconds.nullable(),
  stream: z.boolean(),
  finish_reason: z.string().nullable(),
  /** A replay names the request that was paid. */
  replay_of: z.string().nullable(),
  /** What it asked for; null where it was refused before it had a price. */
  asked: asked.nullable(),
  /** The figures that the refusal named. */
  details: refusalDetails.nullable(),
  /**
   * More than 1: refusals or replays that are alike and came beyond their quota of rows. `id` and `at` are of the first,
   * `details` of the last; a model, surface or key that is not the same for all is null, or named "several keys".
   */
  requests: count,
  last_at: time.nullable(),
});
export const activityList = listOf(activityRow);
export const histogramQuery = activityQuery.omit({ cursor: true, limit: true, find: true });
/** The rows of the same filter, counted. */
export const activityHistogram = z.object({
  ...buckets,
  /** At most 400 starts of buckets, UTC. */
  at: z.array(time),
  /** `counts[i]` is of bucket `at[i]`. */
  states: z.array(z.object({ state: activityState, counts: z.array(count) })),
});
/** The same for operators, who name the organization. */
export const requestsQuery = activityQuery.extend(orgQuery.shape);
export type RequestsQuery = z.output<typeof requestsQuery>;
export type RequestListJson = z.output<typeof activityList>;
/**
 * Server-sent events: `event: row` with an `activityRow` (again when it changed), `event: ping` every 15 s. Without
 * `after` or a `Last-Event-ID`: what runs now and what comes.
 */
export const tailQuery = activityQuery
  .pick({ key: true, model: true })
  .extend({ after: z.iso.datetime().optional() });

const priced = z.object({
  name: z.enum([...TOKEN_CLASSES, "calls"]),
  tokens: count,
  usd_per_million: z.string(),
  amount_usd: usd,
});
/** The cost, as one reads it: lines, their sum, the minimum, what was charged and what went back. */
export const arithmetic = z.object({
  lines: z.array(priced),
  sum_usd: usd,
  minimum_usd: usd,
  minimum_applied: z.boolean(),
  charge_usd: usd,
  hold_usd: usd,
  returned_usd: usd,
  /** Computed price above the hold; the platform paid it. */
  variance_usd: usd,
  evidence: z.enum(EVIDENCE).nullable(),
  release_version: count,
});
export const activityDetail = z.object({
  row: activityRow,
  /** The record of `request show`, `gateway` inside; null for refusals and replays, which the ledger does not hold. */
  request: requestSchema.nullable(),
  sentence: z.string().nullable(),
  /** What the code means, and what to do. */
  advice: z.object({ happened: z.string(), next: z.string() }).nullable(),
  arithmetic: arithmetic.nullable(),
  /** Of each attempt in the record: why it was left, as a sentence, and who paid for it. */
  attempts: z.array(
    z.object({ n: count, reason: z.string(), paid_by: z.enum(["customer", "house", "nobody"]).nullable() }),
  ),
  idempotency: z
    .object({
      key: z.string(),
      caller_supplied: z.boolean(),
      /** What a repeat with this key meets now; `until` when that ends. */
      state: z.enum(["in_progress", "answer_kept", "key_taken", "free"]),
      until: time.nullable(),
      /** `waited_ms`: from the arrival until the answer began; null for replays of earlier releases. */
      replays: z.array(z.object({ id: z.string(), at: time, waited_ms: milliseconds.nullable() })),
      /** SHA-256 of the request as a repeat has to send it; null without a key of the caller, or once that is free. */
      content_hash: z.string().nullable(),
    })
    .nullable(),
  route: z
    .object({
      route: z.string(),
      provider: z.string(),
      region: z.string(),
      release_version: count,
      signed_by: z.string(),
      issued_at: time,
      expires_at: time,
      digest: z.string(),
      tier,
    })
    .nullable(),
  /** What stood in the way of a refusal; null for what was not refused. */
  refusal: z
    .object({
      /** When it would be admitted without anybody's doing; null where that depends on somebody. */
      again_at: time.nullable(),
      /** Requests that held credits just then, of the same key where its limit refused: the largest holds first, 10 at most. */
      running: z.array(
        z.object({
          id: z.string(),
          key: z.object({ id: z.string(), name: z.string() }),
          model: z.string(),
          hold_usd: usd,
          admitted_at: time,
          /** Null: it still runs. */
          ended_at: time.nullable(),
        }),
      ),
      /** How many there were, 200 at most, and what they held together. */
      running_requests: count,
      running_usd: usd,
    })
    .nullable(),
  content: z.literal("not stored"),
});
/** As `GET /v1/receipts/{request_id}` gives it to the key. */
export const signedReceipt = z.object({
  object: z.literal("receipt"),
  id: z.string(),
  jws: z.string(),
  receipt: receiptSchema,
});
