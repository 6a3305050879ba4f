// People as one port: who is signed in, who belongs where, who was invited. `open.ts` implements it; the
// dashboard's API calls it. Every method that changes something throws `Refusal` or `OperatorRefusal`, and
// has then changed nothing.
import type { AuditNote } from "../domain/audit-note.ts";
import type { Role } from "../domain/roles.ts";

/** An account. `operator` is a role over the whole installation, separate from those in organizations. */
export interface Person {
  id: string;
  name: string;
  email: string;
  operator: boolean;
  twoFactor: boolean;
  /** As far as is known, the address belongs to the person (`proven-address.ts`). */
  proven: boolean;
  createdAtMs: number;
}

export interface SignedIn {
  person: Person;
  /** `fresh`: recent enough for changes that require it. */
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

/** Settings of the Usage page under a name chosen by a person: the query of the page's URL. */
export interface UsageView {
  id: string;
  name: string;
  query: string;
}

/** The part of a request that signing in needs. */
export interface Visitor {
  headers: Headers;
  /** The client's address, past trusted proxies; null if unknown. */
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
  /** Shown to the inviter. */
  token: string;
  /** For the mail only: presenting it proves the address. */
  mailedToken: string;
  /** How often the organization has invited this address within a day, including now. */
  timesToday: number;
}

export interface People {
  /**
   * Runs a change by the methods below and writes its audit line; null if there is none to write. Either both
   * are stored or, if either throws, neither; once this resolves, the line can be read. Inside another
   * `written`, it becomes part of it.
   */
  written<T>(
    change: () => Promise<T>,
    line: (made: T) => AuditNote | null | Promise<AuditNote | null>,
  ): Promise<T>;
  /** Handles everything below `/auth`. */
  handle(request: Request, visitor: Visitor, requestId: string): Promise<Response>;
  ways(): { password: boolean; passkey: boolean; oidc: { id: string; name: string }[] };
  /** Read from the store at every call: an ended session is null. */
  sessionOf(visitor: Visitor): Promise<SignedIn | null>;
  anybody(): Promise<boolean>;
  /** The persons with these ids; unknown ids are left out. */
  persons(ids: readonly string[]): Promise<Person[]>;
  /** The person with this id or this address. */
  personNamed(idOrEmail: string): Promise<Person | null>;
  /**
   * Accounts after the one with the id `after`, ordered by address; `search`: a part of a name or an address,
   * or an id.
   */
  accountsAfter(asked: { after: string; search: string; most: number }): Promise<Person[]>;
  /** The same, ordered by id: accounts with ids above `after`. */
  accountsById(asked: { after: string; search: string; most: number }): Promise<Person[]>;

  /** Creates the first account, an operator, through the one-time link of the start banner. */
  welcome(token: string, account: NewAccount, visitor: Visitor): Promise<Person>;
  /**
   * Signs in a person who has just created an account with this password: returns cookies for the response.
   */
  arrive(account: Pick<NewAccount, "email" | "password">, visitor: Visitor): Promise<string[]>;

  /** All of them, latest seen first. */
  memberships(
    by: { personId: string } | { organizationId: string } | { personIds: string[] },
  ): Promise<Membership[]>;
  /** Members of one organization after `after`, latest joined first; `search` as for accounts. */
  membersAfter(
    organizationId: string,
    asked: { after: { atMs: number; id: string }; search: string; most: number },
  ): Promise<Membership[]>;
  /** The number of owners of an organization. */
  ownerCount(organizationId: string): Promise<number>;
  /** The number of members of each organization; a missing entry means none. */
  memberCounts(organizationIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  membership(organizationId: string, personId: string): Promise<Membership | null>;
  /** Those of these people who belong to the organization. */
  membersAmong(organizationId: string, personIds: readonly string[]): Promise<ReadonlySet<string>>;
  join(organizationId: string, personId: string, role: Role): Promise<void>;
  /**
   * Throws if it would leave the organization without an owner, if the role is no longer `from`, or if `by` may not
   * give both roles at this moment. Ends the person's sessions, and the invitations that they sent and may no longer
   * send.
   */
  changeRole(member: MemberAt, change: { from: Role; to: Role; by: string }): Promise<void>;
  /** As `changeRole`; members who leave remove themselves. Also ends invitations from and to this person. */
  remove(member: MemberAt, change: { from: Role; by: string }): Promise<void>;
  seen(organizationId: string, personId: string): Promise<void>;

  /**
   * Replaces open invitations of the address to the same organization. Throws if the person is already in it,
   * or if one is open that `invitedBy` may not make.
   */
  invite(invitation: {
    organizationId: string | null;
    email: string;
    role: Role;
    invitedBy: string;
  }): Promise<MadeInvitation>;
  /** Newest first, after `after`; `open`: only those whose links still work. */
  invitationsAfter(
    organizationId: string | null,
    asked: { after: { atMs: number; id: string }; most: number; open: boolean },
  ): Promise<Invitation[]>;
  /** Null if there is none with this id. */
  invitationNamed(organizationId: string, id: string): Promise<Invitation | null>;
  /** Throws if `by` may not make it. Null if there is none. */
  withdrawInvitation(organizationId: string | null, id: string, by: string): Promise<Invitation | null>;
  /**
   * The open invitation of a token; throws for any other token, and if the sender may no longer give its
   * role.
   */
  invitation(token: string): Promise<{ invitation: Invitation; hasAccount: boolean }>;
  /** As `invitation`, checked in the statement that accepts it. */
  accept(
    token: string,
    as: { account: { name: string; password: string } | null; visitor: Visitor },
  ): Promise<{ invitation: Invitation; person: Person }>;

  /**
   * A token for setting a new password, once, within an hour, while `maker` is an operator; null if there is
   * no such person.
   */
  resetToken(personId: string, maker: string): Promise<{ token: string; expiresAtMs: number } | null>;
  /**
   * Sets the password of the person the token is for, and ends all their sessions. Throws for any other
   * token.
   */
  reset(token: string, password: string, visitor: Visitor): Promise<Person>;
  /** Removes passkeys, too: a lost phone takes its passkeys with it. */
  removeTwoFactor(personId: string): Promise<void>;

  /**
   * Throws if one of the two is not an operator at this moment. Ends the person's sessions and their
   * invitations.
   */
  removeOperator(personId: string, by: string): Promise<void>;
  rename(personId: string, name: string): Promise<void>;
  /** Throws if `current` is wrong. Ends all other sessions. */
  changePassword(visitor: Visitor, change: { current: string; next: string }): Promise<void>;
  sessions(personId: string): Promise<PersonSession[]>;
  endSessions(personId: string, which: { only: string } | { allBut: string } | "all"): Promise<boolean>;
  passkeys(personId: string): Promise<{ id: string; name: string | null; createdAtMs: number }[]>;

  /** Responses to forms by idempotency key; `answer` is null while the first one runs. */
  answers: {
    claim(
      place: string,
      fingerprint: string,
    ): Promise<"mine" | { fingerprint: string; answer: string | null }>;
    keep(place: string, answer: string): Promise<void>;
    forget(place: string): Promise<void>;
  };

  /** What an organization requires of its members. */
  rules(organizationId: string): Promise<OrganizationRules>;
  /** Throws if the rules have changed from `from`. */
  setRules(organizationId: string, change: { from: OrganizationRules; to: OrganizationRules }): Promise<void>;

  /** This person's own views, by name. */
  usageViews(organizationId: string, personId: string): Promise<UsageView[]>;
  /** Replaces the view of this name; throws if there are too many. */
  keepUsageView(
    view: Omit<UsageView, "id"> & { organizationId: string; personId: string },
  ): Promise<UsageView>;
  /** False if this person has no such view here. */
  removeUsageView(organizationId: string, personId: string, id: string): Promise<boolean>;
  close(): Promise<void>;
}
