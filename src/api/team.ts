// Members of an organization and their roles; the organization's requirements for them.
import { z } from "zod";
import { checkVersion, versionOf } from "../domain/row-version.ts";
import { notFound } from "../domain/unknown-record.ts";
import { listMembers } from "../operator/team.ts";
import { organizationNamed } from "../reporting/organization-names.ts";
import { endpoint } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import { DONE, done, id, orgId } from "./shapes/fields.ts";
import * as shapes from "./shapes/people.ts";

const organization = z.strictObject({ org: id });
const oneMember = { org: id, member: id };

export const membersEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/team",
    who: "team.see",
    input: shapes.peopleQuery.extend({ org: id }),
    output: shapes.memberList,
    // Uses the readers' ports, not those of changes.
    run: ({ input, caller }, { people, reports }) =>
      listMembers({ ...reports, people: async () => people }, input, caller.person),
  }),
  endpoint({
    target: "GET /admin/v1/members",
    who: "team.see",
    summary: "List an organization's members, latest joined first",
    input: shapes.peopleQuery.extend({ org: orgId }),
    output: shapes.memberList,
    run: ({ input, caller }, { operator }) => operator.team.list(input, caller.person),
  }),
  endpoint({
    target: "PATCH /app/v1/orgs/{org}/team/{member}",
    who: "team.change",
    input: shapes.changeRoleInput.extend(oneMember),
    output: shapes.member,
    audit: "member.role",
    run: ({ input, caller }, { operator }) => operator.team.changeRole(input, caller),
  }),
  endpoint({
    target: "POST /admin/v1/members/{member}/role",
    who: "team.change",
    summary: "Change a member's role",
    input: shapes.memberRoleInput,
    output: shapes.member,
    audit: "member.role",
    run: ({ input, caller }, { operator }) => operator.team.changeRole(input, caller),
  }),
  endpoint({
    target: ["DELETE /app/v1/orgs/{org}/team/{member}", "POST /admin/v1/members/{member}/remove"],
    who: "team.change",
    summary: "Remove a member; the keys that they created keep working",
    input: shapes.oneMemberInput,
    output: done,
    audit: "member.remove",
    run: async ({ input, caller }, { operator }) => {
      await operator.team.remove(input, caller);
      return DONE;
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/leave",
    who: "overview.see",
    input: organization,
    output: done,
    audit: "member.leave",
    run: async ({ input: { org }, caller }, { operator }) => {
      await operator.team.leave(org, caller);
      return DONE;
    },
  }),
] as const;

export const settingsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/settings",
    who: "settings.see",
    input: organization,
    output: shapes.settings,
    run: ({ input }, rooms) => printSettings(rooms, input.org),
  }),
  endpoint({
    target: "PATCH /app/v1/orgs/{org}/settings",
    who: "settings.change",
    input: shapes.settingsInput.safeExtend({ org: id }),
    output: shapes.settings,
    audit: "organization.settings",
    run: async ({ input, caller: { actor } }, rooms) => {
      const { org, name, require_two_factor: requireTwoFactor, version } = input;
      const before = await printSettings(rooms, org);
      checkVersion(version, before.version);
      if (name !== undefined)
        await rooms.changes.renameOrganization(org, { from: before.name, to: name.trim() }, actor);
      if (requireTwoFactor !== undefined) {
        const from = { requireTwoFactor: before.require_two_factor };
        await rooms.people.written(
          () => rooms.people.setRules(org, { from, to: { requireTwoFactor } }),
          () => ({
            actor,
            action: "organization.settings",
            organizationId: org,
            target: org,
            before: { require_two_factor: before.require_two_factor },
            after: { require_two_factor: requireTwoFactor },
          }),
        );
      }
      return await printSettings(rooms, org);
    },
  }),
] as const;

async function printSettings(rooms: Rooms, org: string): Promise<z.output<typeof shapes.settings>> {
  const found = await organizationNamed(rooms.reports.sql, org);
  if (found === null) throw notFound("org");
  const { requireTwoFactor } = await rooms.people.rules(org);
  return {
    org,
    name: found.name,
    created_at: found.created_at,
    paid_workspace: (await rooms.operator.credits.show(org)).paid_workspace,
    require_two_factor: requireTwoFactor,
    content_logging: { allowed: false, on: false },
    base_url: rooms.site.baseUrl,
    version: versionOf("settings", { name: found.name, requireTwoFactor }),
  };
}
