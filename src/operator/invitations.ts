// Invitations as use-cases, to an organization or as operator: created with their link, resent, withdrawn.
import type { z } from "zod";
import type { InvitationJson, invitationList, MadeInvitationJson } from "../api/shapes/people.ts";
import type { SendMail } from "../alerts/mail/message.ts";
import { linkTo } from "../domain/links.ts";
import { printTime } from "../domain/print.ts";
import type { Role } from "../domain/roles.ts";
import { notFound } from "../domain/unknown-record.ts";
import type { Reader } from "../ledger/ledger.ts";
import { madePlace } from "../people/invitations.ts";
import type { Invitation, MadeInvitation, People } from "../people/people.ts";
import { organizationNamed } from "../reporting/organization-names.ts";
import { pageOf } from "../store/page.ts";
import type { Sql } from "../store/sql.ts";
import { type ListAsk, startOf } from "./list.ts";
import { mailInvitation } from "./invitation-mail.ts";
import type { MailOutcome } from "./mail-quota.ts";
import { assertOrganization } from "./organizations.ts";
import { assertMayGive, type Giver } from "./team.ts";

export interface InvitationsPorts {
  people(
    this: void,
  ): Promise<
    Pick<
      People,
      "invitationNamed" | "invitationsAfter" | "invite" | "persons" | "withdrawInvitation" | "written"
    >
  >;
  ledger: Reader;
  sql: Sql;
  /** Null if no mail server is configured. */
  sendMail: SendMail | null;
  /** The dashboard's URL, without a trailing slash. */
  url(this: void): string;
}

export const operatorInvitations = (on: InvitationsPorts) => ({
  /** A page of invitations, newest first; a null `org` means those of operators. */
  async page({
    org,
    state,
    ...asked
  }: ListAsk & { org: string | null; state?: "open" | undefined }): Promise<z.output<typeof invitationList>> {
    if (org !== null) await assertOrganization(on.ledger, org);
    const { after, limit } = startOf(asked);
    const open = state !== undefined;
    const found = await (await on.people()).invitationsAfter(org, { after, most: limit + 1, open });
    const { rows, nextCursor } = pageOf(found, { limit }, madePlace);
    return { data: await print(on, rows), next_cursor: nextCursor };
  },
  /** Creates an invitation and its link; only this response contains the link. */
  async invite(
    { org, email, role }: { org: string | null; email: string; role: Role },
    by: Giver,
  ): Promise<MadeInvitationJson> {
    if (org !== null) {
      await assertOrganization(on.ledger, org);
      assertMayGive(by.standings, [role]);
    }
    const people = await on.people();
    const made = await people.written(
      () => people.invite({ organizationId: org, email, role, invitedBy: by.person }),
      ({ invitation }) => ({
        actor: by.actor,
        action: org === null ? "operator.invite" : "member.invite",
        organizationId: org,
        target: invitation.id,
        after: { email, role: org === null ? "operator" : role },
      }),
    );
    const { invitation } = made;
    const link = linkTo("invitation", { url: on.url(), token: made.token });
    return { ...(await printOne(on, invitation)), link, mail: await mailed(on, made) };
  },
  /** Sends the same invitation to the same address with a new link; the previous link stops working. */
  async resend(
    { org, invitation }: { org: string; invitation: string },
    by: Giver,
  ): Promise<MadeInvitationJson> {
    const found = await (await on.people()).invitationNamed(org, invitation);
    if (found?.state !== "open" && found?.state !== "expired") throw notFound("invitation");
    return await this.invite({ org, email: found.email, role: found.role }, by);
  },
  /** Its link stops working. */
  async withdraw(
    { org, invitation: target }: { org: string | null; invitation: string },
    { actor, person }: Pick<Giver, "actor" | "person">,
  ): Promise<InvitationJson> {
    const action = org === null ? "operator.uninvite" : "member.uninvite";
    const people = await on.people();
    const invitation = await people.written(
      () => people.withdrawInvitation(org, target, person),
      (withdrawn) => (withdrawn === null ? null : { actor, action, organizationId: org, target }),
    );
    if (invitation === null) throw notFound("invitation");
    return await printOne(on, invitation);
  },
});

/** The invitation exists, and its link will be shown, whatever happens to the mail. */
async function mailed(
  { sendMail: send, people, sql, url }: InvitationsPorts,
  { invitation, timesToday, mailedToken: token }: MadeInvitation,
): Promise<MailOutcome | null> {
  if (send === null) return null;
  const link = linkTo("invitation", { url: url(), token });
  const { id, email: to, role, organizationId: org, invitedBy, expiresAtMs, createdAtMs: atMs } = invitation;
  const [inviter] = await (await people()).persons([invitedBy]);
  const organization = org === null ? null : ((await organizationNamed(sql, org))?.name ?? org);
  const by = inviter?.email ?? null;
  return await mailInvitation({ id, to, link, organization, role, by, timesToday, expiresAtMs, atMs }, send);
}

async function printOne(on: InvitationsPorts, invitation: Invitation): Promise<InvitationJson> {
  const [printed] = await print(on, [invitation]);
  if (printed === undefined) throw notFound("invitation");
  return printed;
}

async function print(
  { people }: Pick<InvitationsPorts, "people">,
  offered: readonly Invitation[],
): Promise<InvitationJson[]> {
  const inviters = await (await people()).persons(offered.map(({ invitedBy }) => invitedBy));
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
