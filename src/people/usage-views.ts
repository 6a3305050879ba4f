// Named views of Usage: settings of an organization's Usage page that a person saved under a name. Nobody
// else sees them.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { People, UsageView } from "./people.ts";
import type { UsageViewRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";

const MODEL = "usageView";
/** The limit per person and organization. */
const AT_MOST = 50;

/** Names are unique per person and organization: saving under an existing name replaces the view. */
export function usageViews({
  records,
}: Pick<SignIn, "records">): Pick<People, "usageViews" | "keepUsageView" | "removeUsageView"> {
  const of = (organizationId: string, personId: string) => [
    { field: "organizationId", value: organizationId },
    { field: "personId", value: personId },
  ];
  return {
    async usageViews(organizationId, personId) {
      const where = of(organizationId, personId);
      const sortBy = { field: "name", direction: "asc" as const };
      return (await records.findMany<UsageViewRow>({ model: MODEL, where, sortBy, limit: AT_MOST })).map(
        viewOf,
      );
    },
    async keepUsageView({ organizationId, personId, name, query }) {
      const place = JSON.stringify([organizationId, personId, name]);
      const at = [{ field: "place", value: place }];
      const replace = () => records.update<UsageViewRow>({ model: MODEL, where: at, update: { query } });
      const replaced = await replace();
      if (replaced !== null) return viewOf(replaced);
      if ((await records.count({ model: MODEL, where: of(organizationId, personId) })) >= AT_MOST)
        throw new OperatorRefusal(
          "conflict",
          `There are already ${AT_MOST} views, which is the maximum. Delete one first.`,
          "name",
        );
      const data = { place, organizationId, personId, name, query, createdAt: Date.now() };
      try {
        return viewOf(await records.create<Record<string, unknown>, UsageViewRow>({ model: MODEL, data }));
      } catch (error) {
        // Saved at the same moment by another click; any other error is rethrown.
        const taken = await replace();
        if (taken === null) throw error;
        return viewOf(taken);
      }
    },
    async removeUsageView(organizationId, personId, id) {
      const where = [{ field: "id", value: id }, ...of(organizationId, personId)];
      return (await records.deleteMany({ model: MODEL, where })) > 0;
    },
  };
}

const viewOf = ({ id, name, query }: UsageViewRow): UsageView => ({ id, name, query });
