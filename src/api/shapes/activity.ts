// Requests as Activity lists, counts and follows them, and one of them with how its cost came about.
import { ACTIVITY_STATES } from "../../domain/activity-states.ts";
import { EVIDENCE } from "../../domain/gateway-object.ts";
import { SURFACES } from "../../domain/surfaces.ts";
import { TOKEN_CLASSES } from "../../domain/token-classes.ts";
import { receiptSchema } from "../../domain/receipt.ts";
import { z } from "zod";
import { asked, refusalDetails, requestSchema } from "./requests.ts";
import { orgQuery } from "./record-inputs.ts";
import { buckets, count, listOf, milliseconds, page, tier, time, usd, window } from "./fields.ts";

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
  /**
   * A prompt is never stored. An answer is kept, sealed, for repeats of its Idempotency-Key, until `idempotency.until`; of a stream
   * that still runs, what was sent so far.
   */
  content: z.enum(["not stored", "answer kept"]),
});
/** As `GET /v1/receipts/{request_id}` gives it to the key. */
export const signedReceipt = z.object({
  object: z.literal("receipt"),
  id: z.string(),
  jws: z.string(),
  receipt: receiptSchema,
});
