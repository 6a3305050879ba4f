// Requests of any organization, as operators look for them.
import { z } from "zod";
import { listOf, orgId, time } from "./fields.ts";
import { activityList, activityQuery } from "./activity.ts";

export const operatorRequestsQuery = activityQuery.omit({ key: true }).extend({
  org: orgId.optional(),
  /** A complete request id, completion id or Idempotency-Key: of all time, ignoring the other filters. */
  find: z.string().min(4).max(200).optional(),
});
export const operatorRequests = listOf(
  activityList.shape.data.element.extend({ org: z.object({ id: z.string(), name: z.string() }) }),
).extend({
  /**
   * Where the page ended if it reached the limit of requests to search before it was full; older ones are on
   * the next page.
   */
  searched_to: time.nullable(),
});
