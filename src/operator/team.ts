// Members of an organization as use-cases: the list, and changes of roles by people who may give both roles.
// Invitations are separate (`invitations.ts`).
import type { z } from "zod";
import type { MemberJson, memberList, peopleQuery } from "../api/shapes/people.ts";
import type { Actor } from "../domain/actor.ts";
import { formatUsd, ZERO_USD } from "../domain/money.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { printTime } from "../domain/print.ts";
import { mayGive, type Role, type Standing } from "../domain/roles.ts";
import { checkVersion, versionOf } from "../domain/row-version.ts";
import { notFound } from "../domain/unknown-record.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { joinedPlace } from "../people/memberships.ts";
import type { Membership, People } from "../people/people.ts";
import { keysByMaker } from "../reporting/key-makers.ts";
import { pageOf } from "../store/page.ts";
import type { Sql } from "../store/sql.ts";
import { startOf } from "./list.ts";
import { assertOrganization } from "./organizations.ts";

export interface TeamPorts {
  people(
    this: void,
  ): Promise<
    Pick<
      People,
      "changeRole" | "membersAfter" | "membership" | "ownerCount" | "persons" | "remove" | "written"
    >
  >;
  ledger: Reader;
  sql: Sql;
  clock: Clock;
}

/**
 * The caller and their standings: a person or the installation, whatever credential they use (decision 18).
 */
export interface Giver {
  /** For the audit log. */
  actor: Actor;
  person: string;
  standings: readonly Standing[];
}

interface MemberAsk {
  org: string;
  member: string;
}

type MembersAsk = z.output<typeof peopleQuery> & { org: string };

/** Latest joined first. `you`: the caller. Changes nothing, and needs none of the ports for changes. */
export async function listMembers(
  on: TeamPorts,
  { org, search = "", ...asked }: MembersAsk,
  you: string,
): Promise<z.output<typeof memberList>> {
  await assertOrganization(on.ledger, org);
  const people = await on.people();
  const { after, limit } = startOf(asked);
  const found = await people.membersAfter(org, { after, search, most: limit + 1 });
  const page = pageOf(found, { limit }, joinedPlace);
  return {
    data: await printMembers(on, { org, you }, page.rows),
    next_cursor: page.nextCursor,
    owners: await people.ownerCount(org),
  };
}

export const team = (on: TeamPorts) => ({
  list: (asked: MembersAsk, you: string) => listMembers(on, asked, you),
  /**
   * Throws for a role that the giver may not give or take, and if the current role differs from the one in
   * `version`.
   */
  async changeRole(
    { org, member, role, version }: MemberAsk & { role: Role; version?: string | undefined },
    { actor, person, standings }: Giver,
  ): Promise<MemberJson> {
    const before = await memberOf(on, org, member);
    assertMayGive(standings, [before.role, role]);
    if (version !== undefined) checkVersion(version, versionOf("member", before));
    if (before.role !== role) {
      const change = { from: before.role, to: role, by: person };
      const people = await on.people();
      await people.written(
        () => people.changeRole({ organizationId: org, personId: member }, change),
        () => ({
          actor,
          action: "member.role",
          organizationId: org,
          target: member,
          before: { role: before.role },
          after: { role },
        }),
      );
    }
    const [row] = await printMembers(on, { org, you: person }, [await memberOf(on, org, member)]);
    if (row === undefined) throw notFound("member");
    return row;
  },
  /** The keys that a removed member created keep working; the keys page says so. */
  async remove({ org, member }: MemberAsk, { actor, person, standings }: Giver): Promise<void> {
    const { role } = await memberOf(on, org, member);
    assertMayGive(standings, [role], "member");
    await end(on, { org, member, role, by: person, actor, action: "member.remove" });
  },
  async leave(org: string, { actor, person }: Pick<Giver, "actor" | "person">): Promise<void> {
    const { role } = await memberOf(on, org, person, "org");
    await end(on, { org, member: person, role, by: person, actor, action: "member.leave" });
  },
});

/**
 * Nobody may change a member whose role they could not give. `field`: the input field that names the member
 * or role.
 */
export function assertMayGive(
  standings: readonly Standing[],
  roles: readonly Role[],
  field: "member" | "role" = "role",
): void {
  if (standings.some((standing) => roles.every((role) => mayGive(standing, role)))) return;
  throw new OperatorRefusal(
    "role_not_permitted",
    "Only an owner or an operator may add, change or remove owners.",
    field,
  );
}

/** `field`: the input field to name if there is no such member. */
async function memberOf(
  { people }: Pick<TeamPorts, "people">,
  org: string,
  person: string,
  field: "member" | "org" = "member",
): Promise<Membership> {
  const membership = await (await people()).membership(org, person);
  if (membership === null) throw notFound(field);
  return membership;
}

async function end(
  on: TeamPorts,
  {
    org,
    member,
    role,
    by,
    actor,
    action,
  }: MemberAsk & { role: Role; by: string; actor: Actor; action: "member.remove" | "member.leave" },
): Promise<void> {
  const people = await on.people();
  await people.written(
    () => people.remove({ organizationId: org, personId: member }, { from: role, by }),
    () => ({ actor, action, organizationId: org, target: member, before: { role } }),
  );
}

async function printMembers(
  on: TeamPorts,
  { org, you }: { org: string; you: string },
  memberships: readonly Membership[],
): Promise<MemberJson[]> {
  const ids = memberships.map(({ personId }) => personId);
  const keys = await keysByMaker(on, org, ids);
  const persons = new Map((await (await on.people()).persons(ids)).map((person) => [person.id, person]));
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
