// Requests of whichever organization, as operators look for them.
import { z } from "zod";
import { listOf, orgId, time } from "./fields.ts";
import { activityList, activityQuery } from "./activity.ts";

export const operatorRequestsQuery = activityQuery.omit({ key: true }).extend({
  org: orgId.optional(),
  /** Request id, completion id or Idempotency-Key, whole: of all time, whatever else is asked. */
  find: z.string().min(4).max(200).optional(),
});
export const operatorRequests = listOf(
  activityList.shape.data.element.extend({ org: z.object({ id: z.string(), name: z.string() }) }),
).extend({
  /** Where a page ended that had looked at as many as one may, before it was full; what is older is on the next. */
  searched_to: time.nullable(),
});
