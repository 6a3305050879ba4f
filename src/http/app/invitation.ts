// The two sides of an invitation's link: what it offers, and taking it.
import type { Desk } from "../../contract/desk.ts";
import type { Operator } from "../../contract/operator.ts";
import { actorOf, type Handlers } from "./call.ts";
import { arrivedAs, printSession, type SessionPorts } from "./session.ts";

type Routes = "POST /invitations/show" | "POST /invitations/accept";
type Ports = SessionPorts & { desk: Pick<Desk, "note">; operator: Pick<Operator, "organizations"> };

export const invitationHandlers = (on: Ports): Handlers<Routes> => ({
  "POST /invitations/show": async ({ body }) => {
    const { invitation, hasAccount } = await on.people.invitation(body.token);
    const organizations = (await on.operator.organizations.list()).data;
    return {
      org_name: organizations.find(({ id }) => id === invitation.organizationId)?.name ?? "Operators",
      email: invitation.email,
      role: invitation.role,
      expires_at: new Date(invitation.expiresAtMs).toISOString(),
      has_account: hasAccount,
    };
  },
  "POST /invitations/accept": async (call) => {
    const { body, visitor, cookies, who } = call;
    const account = body.account ?? null;
    const { invitation, arrival } = await on.people.accept(body.token, { account, visitor });
    cookies.push(...arrival.cookies);
    await on.desk.note({
      actor: actorOf(call, arrival.person.id),
      action: "member.join",
      organizationId: invitation.organizationId,
      target: arrival.person.id,
      after: { role: invitation.organizationId === null ? "operator" : invitation.role },
    });
    const signedIn =
      arrival.cookies.length === 0 ? (who?.signedIn ?? null) : await arrivedAs(on, arrival.cookies);
    return await printSession(on, signedIn);
  },
});
