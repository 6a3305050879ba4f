// Invitations: the two sides of their link, and what an organization and the operators have offered.
import { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import { linkTo } from "../domain/links.ts";
import type { Role } from "../domain/roles.ts";
import { notFound } from "../domain/unknown-record.ts";
import { printTime } from "../domain/print.ts";
import { mailInvitation } from "../operator/invitation-mail.ts";
import type { MailOutcome } from "../operator/mail-quota.ts";
import type { Invitation, MadeInvitation } from "../people/people.ts";
import { organizationNamed } from "../reporting/organization-names.ts";
import { endpoint } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import { arrivedAs, printSession } from "./session.ts";
import { id } from "./shapes/fields.ts";
import { inviteOperatorInput } from "./shapes/people.ts";
import * as shapes from "./shapes/people.ts";
import { assertMayGive } from "./team.ts";

const oneInvitation = { invitation: id };

export const invitationsEndpoints = [
  endpoint({
    target: "POST /app/v1/invitations/show",
    who: "anybody",
    input: shapes.invitationPreviewInput,
    output: shapes.invitationPreview,
    audit: null,
    run: async ({ input }, { reports, people }) => {
      const { invitation, hasAccount } = await people.invitation(input.token);
      const { organizationId: org } = invitation;
      const organization = org === null ? null : await organizationNamed(reports.sql, org);
      return {
        org_name: organization?.name ?? "Operators",
        email: invitation.email,
        role: invitation.role,
        expires_at: printTime(invitation.expiresAtMs),
        has_account: hasAccount,
      };
    },
  }),
  endpoint({
    target: "POST /app/v1/invitations/accept",
    who: "anybody",
    input: shapes.acceptInvitationInput,
    output: shapes.session,
    audit: "member.join",
    run: async ({ input, caller, exchange }, rooms) => {
      const { visitor, cookies, requestId } = exchange;
      const account = input.account ?? null;
      const { invitation, arrival } = await rooms.people.accept(input.token, { account, visitor });
      cookies.push(...arrival.cookies);
      const actor: Actor = { id: arrival.person.id, address: visitor.address, requestId };
      // Whoever was an operator before begins anew: no key of those days opens anything again.
      if (invitation.organizationId === null) await rooms.changes.endManagementKeys(arrival.person.id, actor);
      await rooms.changes.note({
        actor,
        action: "member.join",
        organizationId: invitation.organizationId,
        target: arrival.person.id,
        after: { role: invitation.organizationId === null ? "operator" : invitation.role },
      });
      const signedIn =
        arrival.cookies.length === 0 ? (caller?.signedIn ?? null) : await arrivedAs(rooms, arrival.cookies);
      return await printSession(rooms, signedIn);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/invitations",
    who: "team.see",
    input: z.strictObject({ org: id }),
    output: shapes.invitationList,
    run: async ({ input }, rooms) => ({
      data: await printInvitations(rooms, await rooms.people.invitations(input.org)),
      next_cursor: null,
    }),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/invitations",
    who: "team.change",
    input: shapes.inviteInput.extend({ org: id }),
    output: shapes.createdInvitation,
    status: 201,
    audit: "member.invite",
    run: async ({ input: { org, ...offer }, caller }, rooms) => {
      assertMayGive(caller, [offer.role]);
      return await inviteTo(rooms, { organizationId: org, ...offer, by: caller.actor });
    },
  }),
  endpoint({
    target: "DELETE /app/v1/orgs/{org}/invitations/{invitation}",
    who: "team.change",
    input: z.strictObject({ org: id, ...oneInvitation }),
    output: shapes.invitation,
    audit: "member.uninvite",
    run: ({ input: { org, invitation }, caller }, rooms) =>
      withdraw(rooms, { organizationId: org, invitation, actor: caller.actor }),
  }),
  endpoint({
    target: "POST /app/v1/operator/people",
    who: "operate",
    input: inviteOperatorInput,
    output: shapes.createdInvitation,
    status: 201,
    audit: "operator.invite",
    run: ({ input, caller }, rooms) =>
      inviteTo(rooms, { organizationId: null, email: input.email, role: "viewer", by: caller.actor }),
  }),
  endpoint({
    target: "GET /app/v1/operator/invitations",
    who: "operate",
    input: z.strictObject({}),
    output: shapes.invitationList,
    run: async (_, rooms) => ({
      data: await printInvitations(rooms, await rooms.people.invitations(null)),
      next_cursor: null,
    }),
  }),
  endpoint({
    target: "DELETE /app/v1/operator/invitations/{invitation}",
    who: "operate",
    input: z.strictObject(oneInvitation),
    output: shapes.invitation,
    audit: "operator.uninvite",
    run: ({ input: { invitation }, caller }, rooms) =>
      withdraw(rooms, { organizationId: null, invitation, actor: caller.actor }),
  }),
] as const;

type Printed = z.output<typeof shapes.invitation>;

/** Makes an invitation and its link; the answer is the only one that shows it. */
export async function inviteTo(
  rooms: Rooms,
  { by, ...asked }: { organizationId: string | null; email: string; role: Role; by: Actor },
): Promise<z.output<typeof shapes.createdInvitation>> {
  const made = await rooms.people.invite({ ...asked, invitedBy: by.id });
  const { invitation } = made;
  await rooms.changes.note({
    actor: by,
    action: asked.organizationId === null ? "operator.invite" : "member.invite",
    organizationId: asked.organizationId,
    target: invitation.id,
    after: { email: asked.email, role: asked.organizationId === null ? "operator" : asked.role },
  });
  const link = linkTo("invitation", { url: rooms.site.url, token: made.token });
  return { ...(await printOne(rooms, invitation)), link, mail: await mailed(rooms, made) };
}

/** It is made, and a link to it will be shown, whatever becomes of the mail. */
async function mailed(
  { sendMail: send, people, reports, site }: Rooms,
  { invitation, timesToday, mailedToken: token }: MadeInvitation,
): Promise<MailOutcome | null> {
  if (send === null) return null;
  const link = linkTo("invitation", { url: site.url, token });
  const { id, email: to, role, organizationId: org, invitedBy, expiresAtMs, createdAtMs: atMs } = invitation;
  const [inviter] = await people.persons([invitedBy]);
  const organization = org === null ? null : ((await organizationNamed(reports.sql, org))?.name ?? org);
  const by = inviter?.email ?? null;
  return await mailInvitation({ id, to, link, organization, role, by, timesToday, expiresAtMs, atMs }, send);
}

/** Its link opens nothing from now on. */
async function withdraw(
  rooms: Rooms,
  {
    organizationId,
    invitation: target,
    actor,
  }: { organizationId: string | null; invitation: string; actor: Actor },
): Promise<Printed> {
  const invitation = await rooms.people.withdrawInvitation(organizationId, target, actor.id);
  if (invitation === null) throw notFound("invitation");
  const action = organizationId === null ? "operator.uninvite" : "member.uninvite";
  await rooms.changes.note({ actor, action, organizationId, target });
  return await printOne(rooms, invitation);
}

async function printOne(rooms: Rooms, invitation: Invitation): Promise<Printed> {
  const [printed] = await printInvitations(rooms, [invitation]);
  if (printed === undefined) throw notFound("invitation");
  return printed;
}

async function printInvitations({ people }: Rooms, offered: readonly Invitation[]): Promise<Printed[]> {
  const inviters = await people.persons(offered.map(({ invitedBy }) => invitedBy));
  const names = new Map(inviters.map((person) => [person.id, person.name]));
  return offered.map((invitation) => ({
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_by: { id: invitation.invitedBy, name: names.get(invitation.invitedBy) ?? null },
    created_at: printTime(invitation.createdAtMs),
    expires_at: printTime(invitation.expiresAtMs),
    state: invitation.state,
  }));
}
