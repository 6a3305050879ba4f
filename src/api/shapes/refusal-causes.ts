// Why requests were refused: causes with remedies, and those of one key over time.
import { z } from "zod";
import { buckets, count, id, time, window } from "./fields.ts";

export const refusalCause = z.object({
  code: z.string(),
  /** If it concerns one model, or one key. */
  model: z.string().nullable(),
  key: z.object({ id: z.string(), name: z.string() }).nullable(),
  requests: count,
  last_at: z.string(),
  /** The cause, as it stands now. */
  cause: z.string(),
  /** The remedy; null if there is nothing left to fix. */
  next: z.string().nullable(),
  /** A model that is open now and accepts what that one accepts. */
  instead: z.string().nullable(),
});

export const keyRefusalsQuery = z.strictObject({ org: id, key: id, ...window });
/** Refusals counted together with other keys' belong to no key. */
export const keyRefusals = z.object({
  ...buckets,
  /** At most 400 bucket starts, UTC. */
  at: z.array(time),
  /** All refused requests. */
  refused: count,
  /** The most frequent codes, `counts[i]` in bucket `at[i]`; from the ninth on they are combined as null. */
  codes: z.array(z.object({ code: z.string().nullable(), requests: count, counts: z.array(count) })),
  /** By cause, the most frequent first; at most 12. */
  refusals: z.array(refusalCause),
});
