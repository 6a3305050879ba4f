// Invitations: both ends of their links, and those open in an organization or among operators.
import { z } from "zod";
import type { Actor, From } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { printTime } from "../domain/print.ts";
import type { People } from "../people/people.ts";
import { organizationNamed } from "../reporting/organization-names.ts";
import { endpoint } from "./endpoint.ts";
import { arrivedAs, printSession } from "./session.ts";
import { id, orgId, page } from "./shapes/fields.ts";
import { inviteOperatorInput } from "./shapes/people.ts";
import * as shapes from "./shapes/people.ts";

/** The audit line of somebody who accepted an invitation. */
const joined = (
  { invitation: { organizationId, role }, person }: Awaited<ReturnType<People["accept"]>>,
  from: From,
): AuditNote => ({
  actor: { id: person.id, ...from },
  action: "member.join",
  organizationId,
  target: person.id,
  after: { role: organizationId === null ? "operator" : role },
});

/** What the pages of the dashboard ask for: those whose links still work. */
const openOnly = { ...page, state: z.literal("open").optional() };

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
      const { visitor, requestId } = exchange;
      const account = input.account ?? null;
      const { invitation, person } = await rooms.people.written(
        () => rooms.people.accept(input.token, { account, visitor }),
        (accepted) => joined(accepted, { address: visitor.address, requestId }),
      );
      // A former operator starts over: no key from then works again.
      const actor: Actor = { id: person.id, address: visitor.address, requestId };
      if (invitation.organizationId === null) await rooms.changes.endManagementKeys(person.id, actor);
      if (account === null) return await printSession(rooms, caller?.signedIn ?? null);
      const { password } = account;
      const cookies = await rooms.people.arrive({ email: person.email, password }, visitor);
      exchange.cookies.push(...cookies);
      return await printSession(rooms, await arrivedAs(rooms, cookies));
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/invitations",
    who: "team.see",
    input: z.strictObject({ ...openOnly, org: id }),
    output: shapes.invitationList,
    run: ({ input }, { operator }) => operator.invitations.page(input),
  }),
  endpoint({
    target: "GET /admin/v1/invitations",
    who: "team.see",
    summary: "List an organization's invitations, newest first",
    input: z.strictObject({ ...page, org: orgId }),
    output: shapes.invitationList,
    run: ({ input }, { operator }) => operator.invitations.page(input),
  }),
  endpoint({
    target: ["POST /app/v1/orgs/{org}/invitations", "POST /admin/v1/invitations"],
    who: "team.change",
    summary: "Invite somebody to an organization; only this response shows the link",
    input: shapes.inviteMemberInput,
    output: shapes.createdInvitation,
    status: 201,
    audit: "member.invite",
    run: ({ input, caller }, { operator }) => operator.invitations.invite(input, caller),
  }),
  endpoint({
    target: "POST /admin/v1/invitations/{invitation}/resend",
    who: "team.change",
    summary: "Renew an open or expired invitation with a new link; the old link stops working",
    input: shapes.oneInvitationInput,
    output: shapes.createdInvitation,
    status: 201,
    audit: "member.invite",
    run: ({ input, caller }, { operator }) => operator.invitations.resend(input, caller),
  }),
  endpoint({
    target: [
      "DELETE /app/v1/orgs/{org}/invitations/{invitation}",
      "POST /admin/v1/invitations/{invitation}/withdraw",
    ],
    who: "team.change",
    summary: "Withdraw an invitation; its link stops working",
    input: shapes.oneInvitationInput,
    output: shapes.invitation,
    audit: "member.uninvite",
    run: ({ input, caller }, { operator }) => operator.invitations.withdraw(input, caller),
  }),
  endpoint({
    target: "POST /app/v1/operator/people",
    who: "operate",
    input: inviteOperatorInput,
    output: shapes.createdInvitation,
    status: 201,
    audit: "operator.invite",
    run: ({ input: { email }, caller }, { operator }) =>
      operator.invitations.invite({ org: null, email, role: "viewer" }, caller),
  }),
  endpoint({
    target: "GET /app/v1/operator/invitations",
    who: "operate",
    input: z.strictObject(openOnly),
    output: shapes.invitationList,
    run: ({ input }, { operator }) => operator.invitations.page({ ...input, org: null }),
  }),
  endpoint({
    target: "DELETE /app/v1/operator/invitations/{invitation}",
    who: "operate",
    input: z.strictObject({ invitation: id }),
    output: shapes.invitation,
    audit: "operator.uninvite",
    run: ({ input: { invitation }, caller }, { operator }) =>
      operator.invitations.withdraw({ org: null, invitation }, caller),
  }),
] as const;
