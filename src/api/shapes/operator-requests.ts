// Requests of any organization, as operators look for them.
import { z } from "zod";
import { listOf, orgId } from "./fields.ts";
import { activityList, activityQuery } from "./activity.ts";

export const operatorRequestsQuery = activityQuery.omit({ key: true }).extend({
  org: orgId.optional(),
  /** A complete request id, completion id or Idempotency-Key: of all time, ignoring the other filters. */
  find: z.string().min(4).max(200).optional(),
});
export const operatorRequests = listOf(
  activityList.shape.data.element.extend({ org: z.object({ id: z.string(), name: z.string() }) }),
).extend(activityList.pick({ searched_to: true }).shape);
