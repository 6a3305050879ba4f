// Usage and its cost, by group and over time, and a person's own views of it. Every figure comes from the
// ledger; nothing is summed in a browser.
import { z } from "zod";
import { USAGE_GROUPS } from "../../domain/usage-words.ts";
import { buckets, count, line, listOf, time, usageFigures, window } from "./fields.ts";

const usageGroup = z.enum(USAGE_GROUPS);
export const usageQuery = z.strictObject({
  ...window,
  group_by: usageGroup.optional(),
  /** A second grouping inside the first. */
  then_by: usageGroup.optional(),
  key: z.string().max(60).optional(),
  model: z.string().max(200).optional(),
});
export const usage = z.object({
  org: z.string(),
  ...buckets,
  group_by: usageGroup.nullable(),
  then_by: usageGroup.nullable(),
  total: z.object(usageFigures),
  /**
   * The 100 most expensive groups, most expensive first; together with `others`, the sum of each column is
   * the total. A single row with null if not grouped.
   */
  rows: z.array(
    z.object({
      group: z.string().nullable(),
      second: z.string().nullable(),
      label: z.string(),
      ...usageFigures,
    }),
  ),
  /** At most 400 bucket starts, UTC. */
  at: z.array(time),
  /** The sum of all groups without a row. */
  others: z.object({ groups: count, ...usageFigures }).nullable(),
  /**
   * For the first 8 rows, in their order; `figures[i]` belongs to bucket `at[i]`, null if nothing was used.
   */
  series: z.array(
    z.object({
      group: z.string().nullable(),
      second: z.string().nullable(),
      figures: z.array(z.object(usageFigures).nullable()),
    }),
  ),
  /** The sum of all groups without a series. */
  others_series: z.array(z.object(usageFigures).nullable()).nullable(),
});

/** A person's own view of Usage: the query of its URL, which the page reads like any other. */
export const usageView = z.object({ id: z.string(), name: z.string(), query: z.string() });
export const usageViewList = listOf(usageView);
export const usageViewInput = z.strictObject({ name: line(60), query: z.string().max(1000) });
