// Requests as Activity lists, counts and follows them, and a single request with the calculation of its cost.
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
  /** A complete request id, completion id or Idempotency-Key. */
  find: z.string().max(200).optional(),
});
const activityRow = z.object({
  id: z.string(),
  at: time,
  state: activityState,
  status: z.int().nullable(),
  code: z.string().nullable(),
  model: z.string().nullable(),
  /** Null in a row that counts several requests. */
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
  /** For a replay, the paid request. */
  replay_of: z.string().nullable(),
  /** What it asked for; null if refused before it had a price. */
  asked: asked.nullable(),
  /** The figures in the refusal. */
  details: refusalDetails.nullable(),
  /**
   * More than 1: similar refusals or replays beyond their quota of rows. `id` and `at` are those of the first,
   * `details` those of the last; a model, surface or key that differs among them is null, or shown as "several keys".
   */
  requests: count,
  last_at: time.nullable(),
});
export const activityList = listOf(activityRow).extend({
  /**
   * Where the page ended if it reached the limit of requests to search before it was full; older ones are on
   * the next page.
   */
  searched_to: time.nullable(),
});
export const histogramQuery = activityQuery.omit({ cursor: true, limit: true, find: true });
/** The rows of the same filter, counted. */
export const activityHistogram = z.object({
  ...buckets,
  /** At most 400 bucket starts, UTC. */
  at: z.array(time),
  /** `counts[i]` belongs to bucket `at[i]`. */
  states: z.array(z.object({ state: activityState, counts: z.array(count) })),
});
/** The same for operators, who name the organization. */
export const requestsQuery = activityQuery.extend(orgQuery.shape);
export type RequestsQuery = z.output<typeof requestsQuery>;
export type RequestListJson = z.output<typeof activityList>;
/**
 * Server-sent events: `event: row` with an `activityRow` (again after a change), `event: ping` every 15 s.
 * Without `after` or a `Last-Event-ID`: running and new requests.
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
/** The calculation of the cost: lines, their sum, the minimum, the charge and refunds. */
export const arithmetic = z.object({
  lines: z.array(priced),
  sum_usd: usd,
  minimum_usd: usd,
  minimum_applied: z.boolean(),
  charge_usd: usd,
  hold_usd: usd,
  returned_usd: usd,
  /** The computed price above the hold; the platform paid it. */
  variance_usd: usd,
  evidence: z.enum(EVIDENCE).nullable(),
  release_version: count,
});
export const activityDetail = z.object({
  row: activityRow,
  /**
   * The record of `request show`, including `gateway`; null for refusals and replays, which are not in the
   * ledger.
   */
  request: requestSchema.nullable(),
  sentence: z.string().nullable(),
  /** What the code means, and what to do. */
  advice: z.object({ happened: z.string(), next: z.string() }).nullable(),
  arithmetic: arithmetic.nullable(),
  /** For each attempt in the record: why it was abandoned, as a sentence, and who paid for it. */
  attempts: z.array(
    z.object({ n: count, reason: z.string(), paid_by: z.enum(["customer", "house", "nobody"]).nullable() }),
  ),
  idempotency: z
    .object({
      key: z.string(),
      caller_supplied: z.boolean(),
      /** What a repeat with this key gets now; `until` when that ends. */
      state: z.enum(["in_progress", "answer_kept", "key_taken", "free"]),
      until: time.nullable(),
      /**
       * `waited_ms`: from arrival until the response began; null for replays recorded by earlier releases.
       */
      replays: z.array(z.object({ id: z.string(), at: time, waited_ms: milliseconds.nullable() })),
      /**
       * SHA-256 of the request that a repeat has to send; null without an idempotency key, or once the key is
       * free.
       */
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
  /** What blocked a refused request; null if it was not refused. */
  refusal: z
    .object({
      /** When it would be admitted without any action; null if that depends on somebody. */
      again_at: time.nullable(),
      /**
       * Requests that held credits at that time, of the same key if its limit refused: the largest holds
       * first, 10 at most.
       */
      running: z.array(
        z.object({
          id: z.string(),
          key: z.object({ id: z.string(), name: z.string() }),
          model: z.string(),
          hold_usd: usd,
          admitted_at: time,
          /** Null if it is still running. */
          ended_at: time.nullable(),
        }),
      ),
      /** How many there were, 200 at most, and the sum of their holds. */
      running_requests: count,
      running_usd: usd,
    })
    .nullable(),
  /**
   * Prompts are never stored. An answer is kept, sealed, for repeats of its Idempotency-Key, until
   * `idempotency.until`; of a running stream, what was sent so far.
   */
  content: z.enum(["not stored", "answer kept"]),
});
/** As `GET /v1/receipts/{request_id}` returns it to the key. */
export const signedReceipt = z.object({
  object: z.literal("receipt"),
  id: z.string(),
  jws: z.string(),
  receipt: receiptSchema,
});
