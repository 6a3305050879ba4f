// People as one port: who is signed in, who belongs where, who was invited. `open.ts` keeps them; the dashboard's API
// asks. Every method that changes something throws `Refusal` or `OperatorRefusal` and has changed nothing then.
import type { AuditNote } from "../domain/audit-note.ts";
import type { Role } from "../domain/roles.ts";

/** An account. `operator` is a role over the whole installation, beside those in organizations. */
export interface Person {
  id: string;
  name: string;
  email: string;
  operator: boolean;
  twoFactor: boolean;
  /** The address is theirs, for all that is known (`proven-address.ts`). */
  proven: boolean;
  createdAtMs: number;
}

export interface SignedIn {
  person: Person;
  /** `fresh`: young enough for changes that ask for it. */
  session: { id: string; fresh: boolean; expiresAtMs: number };
}

export interface Membership {
  organizationId: string;
  personId: string;
  role: Role;
  joinedAtMs: number;
  /** When this person last looked at this organization. */
  seenAtMs: number;
}

export interface MemberAt {
  organizationId: string;
  personId: string;
}

export interface Invitation {
  id: string;
  /** Null invites an operator. */
  organizationId: string | null;
  email: string;
  role: Role;
  invitedBy: string;
  createdAtMs: number;
  expiresAtMs: number;
  state: "open" | "accepted" | "withdrawn" | "expired";
}

export interface PersonSession {
  id: string;
  createdAtMs: number;
  seenAtMs: number;
  expiresAtMs: number;
  address: string | null;
  agent: string | null;
}

/** What somebody shows on Usage, under a name of their own: the query of the page's address. */
export interface UsageView {
  id: string;
  name: string;
  query: string;
}

/** What came in, as far as signing in needs it. */
export interface Visitor {
  headers: Headers;
  /** Of the client, past trusted proxies; null when it is not known. */
  address: string | null;
}

export interface NewAccount {
  name: string;
  email: string;
  password: string;
}

interface OrganizationRules {
  requireTwoFactor: boolean;
}

export interface MadeInvitation {
  invitation: Invitation;
  /** For whoever invites. */
  token: string;
  /** For the mail alone: whoever comes with it has proven the address. */
  mailedToken: string;
  /** How often the organization has invited this address within a day, this time included. */
  timesToday: number;
}

export interface People {
  /**
   * A change, by the methods below, with its line in the audit log; null where there is none to write. Both are there
   * afterwards or, when either throws, neither; once it resolves the line can be read. Inside of another one it is a part of that.
   */
  written<T>(
    change: () => Promise<T>,
    line: (made: T) => AuditNote | null | Promise<AuditNote | null>,
  ): Promise<T>;
  /** Everything below `/auth`. */
  handle(request: Request, visitor: Visitor, requestId: string): Promise<Response>;
  ways(): { password: boolean; passkey: boolean; oidc: { id: string; name: string }[] };
  /** Read from the store at every call: an ended session is no session. */
  sessionOf(visitor: Visitor): Promise<SignedIn | null>;
  anybody(): Promise<boolean>;
  /** Of these ids; what nobody has is left out. */
  persons(ids: readonly string[]): Promise<Person[]>;
  /** Whoever has this id or this address. */
  personNamed(idOrEmail: string): Promise<Person | null>;
  /** All accounts there are, page after page. */
  everybody(): Promise<Person[]>;
  /** Accounts behind the one with the id `after`, in the order of their addresses; `search`: a part of a name or an address, or an id. */
  accountsAfter(asked: { after: string; search: string; most: number }): Promise<Person[]>;

  /** The first account, by the one-time link of the start banner: an operator. */
  welcome(token: string, account: NewAccount, visitor: Visitor): Promise<Person>;
  /** Signs in whoever has just made an account with this password: cookies for the answer. */
  arrive(account: Pick<NewAccount, "email" | "password">, visitor: Visitor): Promise<string[]>;

  /** All there are of them, whoever looked last first. */
  memberships(
    by: { personId: string } | { organizationId: string } | { personIds: string[] },
  ): Promise<Membership[]>;
  /** Of one organization, who joined last first, behind `after`; `search` as of accounts. */
  membersAfter(
    organizationId: string,
    asked: { after: { atMs: number; id: string }; search: string; most: number },
  ): Promise<Membership[]>;
  /** How many members of an organization own it. */
  ownerCount(organizationId: string): Promise<number>;
  /** How many members each of these organizations has; none where it is missing. */
  memberCounts(organizationIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  membership(organizationId: string, personId: string): Promise<Membership | null>;
  /** Which of these people belong to the organization. */
  membersAmong(organizationId: string, personIds: readonly string[]): Promise<ReadonlySet<string>>;
  join(organizationId: string, personId: string, role: Role): Promise<void>;
  /**
   * Throws when it would leave the organization without an owner, when the role is not `from` any more, and when `by` may
   * not give both roles at this moment. Ends the person's sessions, and what they offered that they may not give now.
   */
  changeRole(member: MemberAt, change: { from: Role; to: Role; by: string }): Promise<void>;
  /** As `changeRole`; whoever leaves removes themselves. Ends invitations of and to this person, too. */
  remove(member: MemberAt, change: { from: Role; by: string }): Promise<void>;
  seen(organizationId: string, personId: string): Promise<void>;

  /**
   * Replaces what is open for the address in the same organization. Throws for who is in it already, and when something
   * is open that `invitedBy` could not have offered.
   */
  invite(invitation: {
    organizationId: string | null;
    email: string;
    role: Role;
    invitedBy: string;
  }): Promise<MadeInvitation>;
  /** The newest 1,000. */
  invitations(organizationId: string | null): Promise<Invitation[]>;
  /** Newest first, behind `after`. */
  invitationsAfter(
    organizationId: string,
    asked: { after: { atMs: number; id: string }; most: number },
  ): Promise<Invitation[]>;
  /** Null when there is none of this id. */
  invitationNamed(organizationId: string, id: string): Promise<Invitation | null>;
  /** Throws when `by` could not have made it. Null when there is none. */
  withdrawInvitation(organizationId: string | null, id: string, by: string): Promise<Invitation | null>;
  /** The open invitation behind a token; throws for every other, and when who sent it may not give its role any more. */
  invitation(token: string): Promise<{ invitation: Invitation; hasAccount: boolean }>;
  /** As `invitation`, decided in the statement that takes it. */
  accept(
    token: string,
    as: { account: { name: string; password: string } | null; visitor: Visitor },
  ): Promise<{ invitation: Invitation; person: Person }>;

  /** A token for a new password, once, within an hour, while `maker` is an operator; null when there is no such person. */
  resetToken(personId: string, maker: string): Promise<{ token: string; expiresAtMs: number } | null>;
  /** Sets the password and ends all sessions of whom the token is for. Throws for every other token. */
  reset(token: string, password: string, visitor: Visitor): Promise<Person>;
  /** Passkeys, too: whoever has lost a phone has lost those on it. */
  removeTwoFactor(personId: string): Promise<void>;

  /** Throws when one of the two is no operator at this moment. Ends the person's sessions and what they offered. */
  removeOperator(personId: string, by: string): Promise<void>;
  rename(personId: string, name: string): Promise<void>;
  /** Throws when `current` is wrong. Ends all other sessions. */
  changePassword(visitor: Visitor, change: { current: string; next: string }): Promise<void>;
  sessions(personId: string): Promise<PersonSession[]>;
  endSessions(personId: string, which: { only: string } | { allBut: string } | "all"): Promise<boolean>;
  passkeys(personId: string): Promise<{ id: string; name: string | null; createdAtMs: number }[]>;

  /** Answers to forms by their key; `answer` is null while the first one runs. */
  answers: {
    claim(
      place: string,
      fingerprint: string,
    ): Promise<"mine" | { fingerprint: string; answer: string | null }>;
    keep(place: string, answer: string): Promise<void>;
    forget(place: string): Promise<void>;
  };

  /** What an organization asks of its members. */
  rules(organizationId: string): Promise<OrganizationRules>;
  /** Throws when the rules are not `from` any more. */
  setRules(organizationId: string, change: { from: OrganizationRules; to: OrganizationRules }): Promise<void>;

  /** This person's own, by name. */
  usageViews(organizationId: string, personId: string): Promise<UsageView[]>;
  /** In the place of the one of this name; throws when there are too many. */
  keepUsageView(
    view: Omit<UsageView, "id"> & { organizationId: string; personId: string },
  ): Promise<UsageView>;
  /** False when it is no view of this person here. */
  removeUsageView(organizationId: string, personId: string, id: string): Promise<boolean>;
  close(): Promise<void>;
}
