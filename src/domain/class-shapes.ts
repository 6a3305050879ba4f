// Schemas of lists by class of tokens (providers.md §4), defined once for all that check them, however strictly.
import { z } from "zod";
import { RATE_FIELDS, type RateField, standInOf, type WholeField } from "./price.ts";
import { WIRE_COUNTS, type WireCount } from "./token-classes.ts";

type Shape<Required extends string, Optional extends string, Of extends z.ZodType> = {
  [Name in Required]: Of;
} & { [Name in Optional]: z.ZodOptional<Of> };

/** The rates of a price, as published. */
export const ratesShape = <Rate extends z.ZodType>(
  rate: Rate,
): Shape<WholeField, Exclude<RateField, WholeField>, Rate> =>
  Object.fromEntries(
    RATE_FIELDS.map((field) => [field, standInOf(field) === null ? rate : rate.optional()]),
  ) as ReturnType<typeof ratesShape<Rate>>;

/** Classes of tokens under their wire names; classes with a count of zero are left out. */
export const classCountsShape = <Count extends z.ZodType>(
  count: Count,
): Shape<never, WireCount, Count> & { service_tier: z.ZodOptional<z.ZodString> } => ({
  ...(Object.fromEntries(WIRE_COUNTS.map((name) => [name, count.optional()])) as Shape<
    never,
    WireCount,
    Count
  >),
  service_tier: z.string().optional(),
});
