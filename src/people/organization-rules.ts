// What an organization requires of its members, besides their roles; one that has set nothing has no row.
import { changedMeanwhile } from "../domain/row-version.ts";
import type { People } from "./people.ts";
import type { RuleRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";

type Records = SignIn["records"];

export const organizationRules = (records: Records): Pick<People, "rules" | "setRules"> => ({
  async rules(organizationId) {
    const row = await ruleOf(records, organizationId);
    return { requireTwoFactor: row?.requireTwoFactor === true };
  },
  async setRules(organizationId, { from, to }) {
    const where = [
      { field: "organizationId", value: organizationId },
      { field: "requireTwoFactor", value: from.requireTwoFactor },
    ];
    if ((await records.updateMany({ model: RULE, where, update: { ...to } })) > 0) return;
    // No row: nothing has been set and nothing is required.
    if (from.requireTwoFactor) throw changedMeanwhile();
    try {
      await records.create({ model: RULE, data: { organizationId, ...to } });
    } catch (error) {
      // Set at the same moment by somebody else; any other error is rethrown.
      if ((await ruleOf(records, organizationId)) === null) throw error;
      throw changedMeanwhile();
    }
  },
});

const RULE = "organizationRule";

const ruleOf = (records: Records, organizationId: string): Promise<RuleRow | null> =>
  records.findOne<RuleRow>({ model: RULE, where: [{ field: "organizationId", value: organizationId }] });
