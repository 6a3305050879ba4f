// Members, roles and invitations of an organization, and its settings.
import type { Actor } from "../../contract/actor.ts";
import type { AppAnswer } from "../../contract/app.ts";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { Desk } from "../../contract/desk.ts";
import { linkTo } from "../../contract/links.ts";
import { formatUsd, nanoUsd } from "../../contract/money.ts";
import type { Invitation, Membership, People } from "../../contract/people.ts";
import type { Role } from "../../contract/roles.ts";
import { checkVersion, versionOf } from "../../contract/version.ts";
import { actorOf, callerOf, type Handlers, notFound, personOf, type Who } from "./call.ts";

export interface TeamPorts {
  people: People;
  desk: Pick<Desk, "keyMakers" | "note">;
  /** Where people reach the dashboard, without a slash at the end. */
  url: string;
}

type Member = AppAnswer<"PATCH /orgs/{org}/team/{member}">;
type Routes =
  | "GET /orgs/{org}/team"
  | "PATCH /orgs/{org}/team/{member}"
  | "DELETE /orgs/{org}/team/{member}"
  | "POST /orgs/{org}/leave"
  | "GET /orgs/{org}/invitations"
  | "POST /orgs/{org}/invitations"
  | "DELETE /orgs/{org}/invitations/{invitation}";

export const teamHandlers = (on: TeamPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/team": async (call) => ({
    data: await members(on, call.params.org, personOf(call).id),
    next_cursor: null,
  }),
  "PATCH /orgs/{org}/team/{member}": async (call) => {
    const { org, member } = call.params;
    const who = callerOf(call);
    const before = await memberOf(on, org, member);
    mayTouch(who, [before.role, call.body.role]);
    checkVersion(call.body.version, versionOf("member", before));
    if (before.role !== call.body.role) {
      await on.people.changeRole(org, member, { from: before.role, to: call.body.role });
      await on.desk.note({
        actor: actorOf(call),
        action: "member.role",
        organizationId: org,
        target: member,
        before: { role: before.role },
        after: { role: call.body.role },
      });
    }
    const row = (await members(on, org, who.signedIn.person.id)).find(({ person }) => person.id === member);
    if (row === undefined) throw notFound("member");
    return row;
  },
  "DELETE /orgs/{org}/team/{member}": async (call) => {
    const { org, member } = call.params;
    const before = await memberOf(on, org, member);
    mayTouch(callerOf(call), [before.role]);
    await leave(on, { org, member, role: before.role, actor: actorOf(call), action: "member.remove" });
    return { done: true };
  },
  "POST /orgs/{org}/leave": async (call) => {
    const { id } = personOf(call);
    const { role } = await memberOf(on, call.params.org, id);
    await leave(on, { org: call.params.org, member: id, role, actor: actorOf(call), action: "member.leave" });
    return { done: true };
  },
  "GET /orgs/{org}/invitations": async (call) => ({
    data: await printInvitations(on, await on.people.invitations(call.params.org)),
    next_cursor: null,
  }),
  "POST /orgs/{org}/invitations": async (call) => {
    mayTouch(callerOf(call), [call.body.role]);
    return await invite(on, { organizationId: call.params.org, ...call.body, by: actorOf(call) });
  },
  "DELETE /orgs/{org}/invitations/{invitation}": async (call) => {
    const { org: organizationId, invitation: id } = call.params;
    return await withdraw(on, { organizationId, id, actor: actorOf(call) });
  },
});

/** An admin touches everybody but owners, and makes nobody an owner. */
function mayTouch({ standing }: Who, roles: readonly Role[]): void {
  if (standing === "owner" || standing === "operator" || !roles.includes("owner")) return;
  throw new OperatorRefusal("role_not_permitted", "Only an owner may make, change or remove owners.", "role");
}

async function memberOf(on: TeamPorts, org: string, personId: string): Promise<Membership> {
  const membership = await on.people.membership(org, personId);
  if (membership === null) throw notFound("member");
  return membership;
}

/** The keys of somebody who leaves keep working; the keys page says so. */
async function leave(
  on: TeamPorts,
  {
    org,
    member,
    role,
    actor,
    action,
  }: Record<"org" | "member" | "role" | "action", string> & { actor: Actor },
): Promise<void> {
  await on.people.remove(org, member);
  await on.desk.note({ actor, action, organizationId: org, target: member, before: { role } });
}

/** Makes an invitation and its link; the answer is the only one that shows it. */
export async function invite(
  on: TeamPorts,
  { by, ...asked }: { organizationId: string | null; email: string; role: Role; by: Actor },
): Promise<AppAnswer<"POST /orgs/{org}/invitations">> {
  const { invitation, token } = await on.people.invite({ ...asked, invitedBy: by.id });
  await on.desk.note({
    actor: by,
    action: asked.organizationId === null ? "operator.invite" : "member.invite",
    organizationId: asked.organizationId,
    target: invitation.id,
    after: { email: asked.email, role: asked.organizationId === null ? "operator" : asked.role },
  });
  const [printed] = await printInvitations(on, [invitation]);
  if (printed === undefined) throw notFound("invitation");
  return { ...printed, link: linkTo("invitation", { url: on.url, token }) };
}

/** Its link opens nothing from now on. */
export async function withdraw(
  on: TeamPorts,
  { organizationId, id, actor }: { organizationId: string | null; id: string; actor: Actor },
): Promise<AppAnswer<"DELETE /operator/invitations/{invitation}">> {
  const invitation = await on.people.withdrawInvitation(organizationId, id);
  if (invitation === null) throw notFound("invitation");
  const action = organizationId === null ? "operator.uninvite" : "member.uninvite";
  await on.desk.note({ actor, action, organizationId, target: id });
  const [printed] = await printInvitations(on, [invitation]);
  if (printed === undefined) throw notFound("invitation");
  return printed;
}

export async function printInvitations(
  on: Pick<TeamPorts, "people">,
  invitations: readonly Invitation[],
): Promise<AppAnswer<"GET /orgs/{org}/invitations">["data"]> {
  const names = new Map(
    (await on.people.persons(invitations.map(({ invitedBy }) => invitedBy))).map(({ id, name }) => [
      id,
      name,
    ]),
  );
  return invitations.map((invitation) => ({
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_by: { id: invitation.invitedBy, name: names.get(invitation.invitedBy) ?? null },
    created_at: new Date(invitation.createdAtMs).toISOString(),
    expires_at: new Date(invitation.expiresAtMs).toISOString(),
    state: invitation.state,
  }));
}

async function members(on: TeamPorts, org: string, you: string): Promise<Member[]> {
  const memberships = await on.people.memberships({ organizationId: org });
  const persons = new Map(
    (await on.people.persons(memberships.map(({ personId }) => personId))).map((person) => [
      person.id,
      person,
    ]),
  );
  const keys = await on.desk.keyMakers(org);
  return memberships.flatMap(({ personId, role, joinedAtMs, seenAtMs }) => {
    const person = persons.get(personId);
    if (person === undefined) return [];
    const own = keys.filter(({ maker }) => maker === personId);
    return [
      {
        person: { id: personId, name: person.name },
        email: person.email,
        role,
        two_factor: person.twoFactor,
        joined_at: new Date(joinedAtMs).toISOString(),
        last_seen_at: new Date(seenAtMs).toISOString(),
        keys: own.filter(({ revoked }) => !revoked).length,
        month_spend_usd: formatUsd(nanoUsd(own.reduce((sum, { monthSpend }) => sum + monthSpend, 0n))),
        you: personId === you,
        version: versionOf("member", { role }),
      },
    ];
  });
}
