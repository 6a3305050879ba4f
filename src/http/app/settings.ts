// An organization's settings.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People } from "../../contract/people.ts";
import { checkVersion, versionOf } from "../../contract/version.ts";
import { actorOf, type Handlers, notFound } from "./call.ts";

export interface SettingsPorts {
  people: Pick<People, "rules" | "setRules">;
  desk: Pick<Desk, "note" | "renameOrganization">;
  operator: Pick<Operator, "organizations" | "credits">;
  baseUrl: string;
}

type Settings = AppAnswer<"GET /orgs/{org}/settings">;
type Routes = "GET /orgs/{org}/settings" | "PATCH /orgs/{org}/settings";

export const settingsHandlers = (on: SettingsPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/settings": (call) => printSettings(on, call.params.org),
  "PATCH /orgs/{org}/settings": async (call) => {
    const { org } = call.params;
    const actor = actorOf(call);
    const { name, require_two_factor: requireTwoFactor, version } = call.body;
    const before = await printSettings(on, org);
    checkVersion(version, before.version);
    if (name !== undefined)
      await on.desk.renameOrganization(org, { from: before.name, to: name.trim() }, actor);
    if (requireTwoFactor !== undefined) {
      const from = { requireTwoFactor: before.require_two_factor };
      await on.people.setRules(org, { from, to: { requireTwoFactor } });
      await on.desk.note({
        actor,
        action: "organization.settings",
        organizationId: org,
        target: org,
        before: { require_two_factor: before.require_two_factor },
        after: { require_two_factor: requireTwoFactor },
      });
    }
    return await printSettings(on, org);
  },
});

async function printSettings(on: SettingsPorts, org: string): Promise<Settings> {
  const organization = (await on.operator.organizations.list()).data.find(({ id }) => id === org);
  if (organization === undefined) throw notFound("org");
  const { requireTwoFactor } = await on.people.rules(org);
  return {
    org,
    name: organization.name,
    created_at: organization.created_at,
    paid_workspace: (await on.operator.credits.show(org)).paid_workspace,
    require_two_factor: requireTwoFactor,
    content_logging: { allowed: false, on: false },
    base_url: on.baseUrl,
    version: versionOf("settings", { name: organization.name, requireTwoFactor }),
  };
}
