// Who is signed in, who belongs to an organization, a person's own settings, and everybody with an account as
// operators see them.
import { z } from "zod";
import { ROLES } from "../../domain/roles.ts";
import {
  count,
  email,
  id,
  line,
  listOf,
  orgId,
  page,
  password,
  personRef,
  time,
  usd,
  version,
} from "./fields.ts";

const role = z.enum(ROLES);
const membership = z.object({ org: z.string(), name: z.string(), role });

const person = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  operator: z.boolean(),
  two_factor: z.boolean(),
  /** Latest use first: `/` goes to the first one. */
  memberships: z.array(membership),
});

/** Available to everybody; `person` is null if not signed in. */
export const session = z.object({
  person: person.nullable(),
  expires_at: time.nullable(),
  /** True until the first account exists: then only the one-time link of the start banner helps. */
  first_run: z.boolean(),
  ways: z.object({
    password: z.boolean(),
    passkey: z.boolean(),
    /**
     * Sign in with POST /auth/sign-in/social {provider: id, callbackURL, errorCallbackURL}, then go to the
     * response's `url`.
     */
    oidc: z.array(z.object({ id: z.string(), name: z.string() })),
  }),
  /** The base URL for snippets, ends with `/v1`. */
  base_url: z.string(),
  /** Null if not signed in. */
  version: z.string().nullable(),
});

const account = { name: line(100), email, password };
/** The tokens of these inputs come from the fragment of the links in `domain/links.ts`. */
export const welcomeInput = z.strictObject({ token: z.string().max(200), ...account });
export const acceptInvitationInput = z.strictObject({
  token: z.string().max(200),
  /** Omitted if signed in with the invited address. */
  account: z.strictObject({ name: line(100), password }).optional(),
});
export const invitationPreviewInput = z.strictObject({ token: z.string().max(200) });
export const invitationPreview = z.object({
  org_name: z.string(),
  email: z.string(),
  role,
  expires_at: time,
  /** The address has an account already: sign in with it. */
  has_account: z.boolean(),
});

/** Through the link that an operator created for somebody who can no longer sign in. */
export const resetInput = z.strictObject({ token: z.string().max(200), password });

export const member = z.object({
  person: personRef,
  email: z.string(),
  role,
  two_factor: z.boolean(),
  joined_at: time,
  last_seen_at: time.nullable(),
  keys: z.int(),
  month_spend_usd: usd,
  you: z.boolean(),
  version,
});
/** Latest joined first. `owners`: of all its members. */
export const memberList = listOf(member).extend({ owners: count });
/** `search`: a part of a name or of an address, or a person's id. */
export const peopleQuery = z.strictObject({ ...page, search: z.string().max(254).optional() });
export const changeRoleInput = z.strictObject({ role, version });
/** A script may omit the version: then the role is set whatever it was. */
export const memberRoleInput = z
  .strictObject({ org: orgId, member: id, role, version: version.optional() })
  .meta({ id: "ChangeMemberRole" });
export const oneMemberInput = z.strictObject({ org: orgId, member: id }).meta({ id: "OneMember" });

export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  invited_by: personRef,
  created_at: time,
  expires_at: time,
  state: z.enum(["open", "accepted", "withdrawn", "expired"]),
});
export const invitationList = listOf(invitation);
const inviteInput = z.strictObject({ email, role });
export const inviteMemberInput = inviteInput.extend({ org: orgId }).meta({ id: "InviteMember" });
export const oneInvitationInput = z
  .strictObject({ org: orgId, invitation: id })
  .meta({ id: "OneInvitation" });
/** Null if the gateway sends no mail. */
const mailOutcome = z
  .object({ state: z.enum(["sent", "not_sent"]), reason: z.string().nullable() })
  .nullable();
/** `link` is shown once. `mail` is null if the gateway sends none: then the link is sent by hand. */
export const createdInvitation = invitation.extend({
  link: z.string().nullable(),
  mail: mailOutcome,
});

export const settings = z.object({
  org: z.string(),
  name: z.string(),
  created_at: time,
  paid_workspace: z.boolean(),
  require_two_factor: z.boolean(),
  /** No log contains content; the field says so. */
  content_logging: z.object({ allowed: z.boolean(), on: z.boolean() }),
  base_url: z.string(),
  version,
});
/** One at a time: they are kept in two stores, and a change is made completely or not at all. */
export const settingsInput = z
  .strictObject({ name: line().optional(), require_two_factor: z.boolean().optional(), version })
  .refine(
    ({ name, require_two_factor }) => (name === undefined) !== (require_two_factor === undefined),
    "needs a name or a rule, one at a time",
  );

/** One session of this person; end it with DELETE /profile/sessions/{id}. */
const personSession = z.object({
  id: z.string(),
  created_at: time,
  last_seen_at: time,
  expires_at: time,
  address: z.string().nullable(),
  agent: z.string().nullable(),
  current: z.boolean(),
});
export const profile = z.object({
  person,
  passkeys: z.array(z.object({ id: z.string(), name: z.string().nullable(), created_at: time })),
  sessions: z.array(personSession),
});
export const profileInput = z.strictObject({ name: line(100) });
export const passwordInput = z.strictObject({ current: z.string().max(128), next: password });

const operatorPerson = z.object({
  person: personRef,
  email: z.string(),
  operator: z.boolean(),
  two_factor: z.boolean(),
  last_seen_at: time.nullable(),
  memberships: z.array(z.object({ org: z.string(), name: z.string(), role: z.string() })),
});
export const operatorPersonList = listOf(operatorPerson);
export const inviteOperatorInput = z.strictObject({ email });
/** `two_factor` also removes the second factor and passkeys: for a lost phone. */
export const resetPersonInput = z.strictObject({ two_factor: z.boolean().default(false) });
/** Works once, within an hour; null if the same Idempotency-Key showed it before. */
export const resetLink = z.object({
  email: z.string(),
  link: z.string().nullable(),
  expires_at: time,
  mail: mailOutcome,
});

export type MemberJson = z.output<typeof member>;
export type InvitationJson = z.output<typeof invitation>;
export type MadeInvitationJson = z.output<typeof createdInvitation>;
