// Why requests were turned away: causes with what mends them, and those of one key over time.
import { z } from "zod";
import { buckets, count, id, time, window } from "./fields.ts";

export const refusalCause = z.object({
  code: z.string(),
  /** Where it is about one model, or about one key. */
  model: z.string().nullable(),
  key: z.object({ id: z.string(), name: z.string() }).nullable(),
  requests: count,
  last_at: z.string(),
  /** Why, as it stands now. */
  cause: z.string(),
  /** What mends it; null where nothing is left to mend. */
  next: z.string().nullable(),
  /** A model that is open now and takes what that one takes. */
  instead: z.string().nullable(),
});

export const keyRefusalsQuery = z.strictObject({ org: id, key: id, ...window });
/** Those that were counted together with other keys' are of no key. */
export const keyRefusals = z.object({
  ...buckets,
  /** At most 400 starts of buckets, UTC. */
  at: z.array(time),
  /** All that were turned away. */
  refused: count,
  /** The most frequent codes, `counts[i]` of bucket `at[i]`; from the ninth on they are counted as null together. */
  codes: z.array(z.object({ code: z.string().nullable(), requests: count, counts: z.array(count) })),
  /** By cause, the most frequent first; at most 12. */
  refusals: z.array(refusalCause),
});
