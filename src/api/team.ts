// Members of an organization and their roles; what the organization asks of them.
import { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import { formatUsd, ZERO_USD } from "../domain/money.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { mayGive, type Role } from "../domain/roles.ts";
import { checkVersion, versionOf } from "../domain/row-version.ts";
import { notFound } from "../domain/unknown-record.ts";
import { printTime } from "../domain/print.ts";
import { startOf } from "../operator/list.ts";
import { joinedPlace } from "../people/memberships.ts";
import type { Membership } from "../people/people.ts";
import { keysByMaker } from "../reporting/key-makers.ts";
import { pageOf } from "../store/page.ts";
import { organizationNamed } from "../reporting/organization-names.ts";
import { type Caller, endpoint } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import { DONE, done, id } from "./shapes/fields.ts";
import * as shapes from "./shapes/people.ts";

const organization = z.strictObject({ org: id });
const oneMember = { org: id, member: id };

export const teamEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/team",
    who: "team.see",
    input: shapes.peopleQuery.extend({ org: id }),
    output: shapes.memberList,
    run: async ({ input: { org, search = "", ...asked }, caller }, rooms) => {
      const { after, limit } = startOf(asked);
      const found = await rooms.people.membersAfter(org, { after, search, most: limit + 1 });
      const page = pageOf(found, { limit }, joinedPlace);
      const makers = page.rows.map(({ personId }) => personId);
      return {
        data: await printMembers(rooms, {
          memberships: page.rows,
          keys: await keysByMaker(rooms.reports, org, makers),
          you: caller.actor.id,
        }),
        next_cursor: page.nextCursor,
        owners: await rooms.people.ownerCount(org),
      };
    },
  }),
  endpoint({
    target: "PATCH /app/v1/orgs/{org}/team/{member}",
    who: "team.change",
    input: shapes.changeRoleInput.extend(oneMember),
    output: shapes.member,
    audit: "member.role",
    run: async ({ input: { org, member, role, version }, caller }, rooms) => {
      const { actor } = caller;
      const before = await memberOf(rooms, { org, person: member });
      assertMayGive(caller, [before.role, role]);
      checkVersion(version, versionOf("member", before));
      if (before.role !== role) {
        const change = { from: before.role, to: role, by: actor.id };
        await rooms.people.changeRole({ organizationId: org, personId: member }, change);
        await rooms.changes.note({
          actor,
          action: "member.role",
          organizationId: org,
          target: member,
          before: { role: before.role },
          after: { role },
        });
      }
      const [row] = await printMembers(rooms, {
        memberships: [await memberOf(rooms, { org, person: member })],
        keys: await keysByMaker(rooms.reports, org, [member]),
        you: actor.id,
      });
      if (row === undefined) throw notFound("member");
      return row;
    },
  }),
  endpoint({
    target: "DELETE /app/v1/orgs/{org}/team/{member}",
    who: "team.change",
    input: z.strictObject(oneMember),
    output: done,
    audit: "member.remove",
    run: async ({ input: { org, member }, caller }, rooms) => {
      const { role } = await memberOf(rooms, { org, person: member });
      assertMayGive(caller, [role], "member");
      await leave(rooms, { org, member, role, actor: caller.actor, action: "member.remove" });
      return DONE;
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/leave",
    who: "overview.see",
    input: organization,
    output: done,
    audit: "member.leave",
    run: async ({ input: { org }, caller: { actor } }, rooms) => {
      const { role } = await memberOf(rooms, { org, person: actor.id }, "org");
      await leave(rooms, { org, member: actor.id, role, actor, action: "member.leave" });
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
        await rooms.people.setRules(org, { from, to: { requireTwoFactor } });
        await rooms.changes.note({
          actor,
          action: "organization.settings",
          organizationId: org,
          target: org,
          before: { require_two_factor: before.require_two_factor },
          after: { require_two_factor: requireTwoFactor },
        });
      }
      return await printSettings(rooms, org);
    },
  }),
] as const;

/** Nobody changes who is more than they could make of somebody themselves. `field`: what of the call says who that is. */
export function assertMayGive(
  { standing }: Caller,
  roles: readonly Role[],
  field: "member" | "role" = "role",
): void {
  if (roles.every((role) => mayGive(standing, role))) return;
  throw new OperatorRefusal("role_not_permitted", "Only an owner may make, change or remove owners.", field);
}

/** `field`: what of the call says whom nobody knows there. */
async function memberOf(
  { people }: Rooms,
  at: { org: string; person: string },
  field: "member" | "org" = "member",
): Promise<Membership> {
  const { org, person } = at;
  const membership = await people.membership(org, person);
  if (membership === null) throw notFound(field);
  return membership;
}

/** The keys of somebody who leaves keep working; the keys page says so. */
async function leave(
  rooms: Rooms,
  {
    org,
    member,
    role,
    actor,
    action,
  }: Record<"org" | "member" | "action", string> & { role: Role; actor: Actor },
): Promise<void> {
  await rooms.people.remove({ organizationId: org, personId: member }, { from: role, by: actor.id });
  await rooms.changes.note({ actor, action, organizationId: org, target: member, before: { role } });
}

async function printMembers(
  { people }: Rooms,
  {
    memberships,
    keys,
    you,
  }: {
    memberships: readonly Membership[];
    keys: Awaited<ReturnType<typeof keysByMaker>>;
    you: string;
  },
): Promise<z.output<typeof shapes.member>[]> {
  const found = await people.persons(memberships.map(({ personId }) => personId));
  const persons = new Map(found.map((person) => [person.id, person]));
  return memberships.flatMap(({ personId, role, joinedAtMs, seenAtMs }) => {
    const person = persons.get(personId);
    if (person === undefined) return [];
    const own = keys.get(personId);
    return [
      {
        person: { id: personId, name: person.name },
        email: person.email,
        role,
        two_factor: person.twoFactor,
        joined_at: printTime(joinedAtMs),
        last_seen_at: printTime(seenAtMs),
        keys: own?.live ?? 0,
        month_spend_usd: formatUsd(own?.monthSpend ?? ZERO_USD),
        you: personId === you,
        version: versionOf("member", { role }),
      },
    ];
  });
}

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
