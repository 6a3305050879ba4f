// Named views of Usage, each person's own.
import type { People } from "../../contract/people.ts";
import { type Handlers, notFound, personOf } from "./call.ts";

export interface UsageViewPorts {
  people: Pick<People, "keepUsageView" | "removeUsageView" | "usageViews">;
}

type Routes =
  | "GET /orgs/{org}/usage/views"
  | "PUT /orgs/{org}/usage/views"
  | "DELETE /orgs/{org}/usage/views/{view}";

export const usageViewHandlers = ({ people }: UsageViewPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/usage/views": async (call) => ({
    data: await people.usageViews(call.params.org, personOf(call).id),
    next_cursor: null,
  }),
  "PUT /orgs/{org}/usage/views": (call) =>
    people.keepUsageView({
      organizationId: call.params.org,
      personId: personOf(call).id,
      name: call.body.name.trim(),
      query: call.body.query,
    }),
  "DELETE /orgs/{org}/usage/views/{view}": async (call) => {
    const { org, view } = call.params;
    if (!(await people.removeUsageView(org, personOf(call).id, view))) throw notFound("view");
    return { done: true };
  },
});
