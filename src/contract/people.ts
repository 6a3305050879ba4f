// People as one port: who is signed in, who belongs where, who was invited. `src/people` keeps them; the dashboard's API
// asks. Every method that changes something throws `Refusal` or `OperatorRefusal` and has changed nothing then.
import type { Role } from "./roles.ts";

export interface Person {
  id: string;
  name: string;
  email: string;
  operator: boolean;
  twoFactor: boolean;
  createdAtMs: number;
}

export interface SignedIn {
  person: Person;
  session: { id: string; createdAtMs: number; expiresAtMs: number };
}

export interface Membership {
  organizationId: string;
  personId: string;
  role: Role;
  joinedAtMs: number;
  /** When this person last looked at this organization. */
  seenAtMs: number;
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

/** Somebody who was just signed in: cookies for the answer. */
export interface Arrival {
  person: Person;
  cookies: string[];
}

export interface NewAccount {
  name: string;
  email: string;
  password: string;
}

export interface OrganizationRules {
  requireTwoFactor: boolean;
}

export interface People {
  /** Everything below `/auth`. */
  handle(request: Request, visitor: Visitor, requestId: string): Promise<Response>;
  ways(): { password: boolean; passkey: boolean; oidc: { id: string; name: string }[] };
  /** Read from the store at every call: an ended session is no session. */
  sessionOf(visitor: Visitor): Promise<SignedIn | null>;
  anybody(): Promise<boolean>;
  persons(ids?: readonly string[]): Promise<Person[]>;

  /** The first account, by the one-time link of the start banner: an operator. */
  welcome(token: string, account: NewAccount, visitor: Visitor): Promise<Arrival>;

  memberships(by: { personId: string } | { organizationId: string } | "all"): Promise<Membership[]>;
  membership(organizationId: string, personId: string): Promise<Membership | null>;
  join(organizationId: string, personId: string, role: Role): Promise<void>;
  /**
   * Throws when it would leave the organization without an owner, and when the role is not `from` any more. Ends the
   * person's sessions.
   */
  changeRole(organizationId: string, personId: string, change: { from: Role; to: Role }): Promise<void>;
  /** Throws when it would leave the organization without an owner. */
  remove(organizationId: string, personId: string): Promise<void>;
  seen(organizationId: string, personId: string): Promise<void>;

  /** Replaces what is open for the address in the same organization. */
  invite(invitation: {
    organizationId: string | null;
    email: string;
    role: Role;
    invitedBy: string;
  }): Promise<{ invitation: Invitation; token: string }>;
  invitations(organizationId: string | null): Promise<Invitation[]>;
  withdrawInvitation(organizationId: string | null, id: string): Promise<Invitation | null>;
  /** The open invitation behind a token; throws for every other. */
  invitation(token: string): Promise<{ invitation: Invitation; hasAccount: boolean }>;
  accept(
    token: string,
    as: { account: { name: string; password: string } | null; visitor: Visitor },
  ): Promise<{ invitation: Invitation; arrival: Arrival }>;

  /** A token for a new password, once, within an hour; null when there is no such person. */
  resetToken(personId: string): Promise<{ token: string; expiresAtMs: number } | null>;
  /** Sets the password and ends all sessions of whom the token is for. Throws for every other token. */
  reset(token: string, password: string, visitor: Visitor): Promise<Person>;
  removeTwoFactor(personId: string): Promise<void>;

  setOperator(personId: string, operator: boolean): Promise<void>;
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
