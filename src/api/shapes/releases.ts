// Releases and the routes that they serve, as operators see and change them.
import { z } from "zod";
import { price } from "./catalogue.ts";
import { modelUseSchema, priceLineSchema } from "./price.ts";
import { releaseSchema, routeSchema } from "./records.ts";
import { count, line, listOf, milliseconds, personRef, time, page } from "./fields.ts";

export const route = routeSchema.extend({
  highest_version: count,
  /** The fields below are null if its release is damaged and they are unknown. */
  signed_by: z.string().nullable(),
  issued_at: time.nullable(),
  tier: z.enum(["standard", "research"]).nullable(),
  price: price.nullable(),
  /** In the last five minutes, by admission. */
  recent: z.object({
    requests: count,
    error_rate: z.number(),
    first_part_ms_p50: milliseconds.nullable(),
  }),
});
export const routeList = listOf(route);
const trustedKey = z.object({ id: z.string() });
export const trustedKeyList = listOf(trustedKey);
export const disableInput = z.strictObject({ route: line(400), reason: line() });
export const enableInput = z.strictObject({ route: line(400) }).meta({ id: "EnableRoute" });
export const publishInput = z
  .strictObject({ jws: z.string().min(1).max(65_536) })
  .meta({ id: "PublishRelease" });
/**
 * Verified, not published: what would change, field by field and price by price. `live` is null for a new
 * route.
 */
export const verifiedRelease = z.object({
  release: releaseSchema,
  live: releaseSchema.nullable(),
  changes: z.array(
    z.object({ field: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
  /** Every price of both, changed or not. */
  prices: z.array(priceLineSchema),
  /** The use of its model: who is affected by a change. */
  use: modelUseSchema,
});
export const releaseHistory = listOf(
  releaseSchema.omit({ state: true }).extend({ published_at: time, published_by: personRef.nullable() }),
);
export const releasesQuery = z.strictObject({ ...page, route: z.string().max(400).optional() });
