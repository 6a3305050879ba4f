// People, put together: the sign-in library with its store, memberships, invitations, the first-run link.
import { DAY_MS } from "../domain/durations.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { Invitation, NewAccount, People, Person, Visitor } from "./people.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/networks.ts";
import {
  accountPages,
  createAccount,
  kept,
  persons,
  sessionKeeping,
  sessionOf,
  signInWith,
} from "./accounts.ts";
import { answers } from "./answers.ts";
import { refusingWhileAway } from "./away.ts";
import { handleAuth } from "./door.ts";
import { isFirstRunToken } from "./first-run.ts";
import { invitations, notOpen } from "./invitations.ts";
import { resets } from "./resets.ts";
import { usageViews } from "./usage-views.ts";
import { alreadyMember, memberships } from "./memberships.ts";
import { operators } from "./operators.ts";
import { mailedToken, readInvitationToken } from "./mailed-token.ts";
import { organizationRules } from "./organization-rules.ts";
import { INSTALLATION } from "../domain/actor.ts";
import { addressProven } from "./proven-address.ts";
import { openSignIn, passkeyHost, type SignIn, type SignInOptions } from "./sign-in.ts";
import { ToldToWait } from "./told-to-wait.ts";
import type { AuditOutbox } from "./outbox.ts";
import type { PeopleStore } from "./store.ts";
import type { PeopleTransactions } from "./transactions.ts";
import { withLines } from "./written.ts";
import { toldAway } from "../store/postgres-error.ts";
import { Windows } from "../limits/window.ts";

export interface PeopleOptions extends Omit<SignInOptions, "store"> {
  openStore(this: void): Promise<PeopleStore>;
  /** Carries the waiting lines of the people's file into the audit log. If that fails, they keep waiting. */
  carry(this: void, outbox: AuditOutbox): Promise<void>;
  /** A person or the installation; null if the key is not valid. */
  ownerOfManagementKey(id: string): Promise<string | null>;
}

/**
 * Opens people. Rejects, with its store closed again, if they cannot be opened; as `overloaded` if their
 * database is unreachable.
 */
export async function openPeople(options: PeopleOptions): Promise<People> {
  const store = await options.openStore();
  try {
    return await peopleOn(store, options);
  } catch (error) {
    await store.close();
    throw toldAway(error);
  }
}

async function peopleOn(store: PeopleStore, options: PeopleOptions): Promise<People> {
  const { clock, secret, url, origins, oidc, signInsPerMinute, passwords } = options;
  const { transactions } = store;
  const on = await openSignIn({ store, secret, url, origins, oidc, signInsPerMinute, clock, passwords });
  const sessions = sessionKeeping(on);
  const throttle = new Windows({ most: signInsPerMinute, windowMs: 60_000, kept: 10_000 });
  const countTry = throttledBy(throttle, clock);
  const slowDown = ({ address }: Visitor): void => countTry(networkOf(address ?? ""), "from this address");
  const toldToWait = new ToldToWait(clock);
  const endAll = (personId: string): Promise<unknown> => sessions.endSessions(personId, "all");
  /**
   * Limits guesses at the password of a signed-in person, counted per session: somebody who found an open
   * session gets few, and uses up nobody else's.
   */
  const slowGuesses = async (visitor: Visitor): Promise<void> => {
    const signedIn = await sessionOf(on, visitor);
    if (signedIn !== null) countTry(`session ${signedIn.session.id}`, "with this sign-in");
  };
  const offers = invitations({ records: on.records, store });
  const members = memberships({ records: on.records, store }, endAll);
  const people: People = {
    ...withLines({ store, clock, carry: options.carry }),
    ...sessions,
    ...persons(on),
    ...accountPages(store, persons(on)),
    ...members,
    ...operators(store, endAll),
    ...organizationRules(on.records),
    ...usageViews(on),
    ...answers(on, clock),
    async invite(invitation) {
      const made = await transactions.together(() => offers.invite(invitation));
      return { ...made, mailedToken: mailedToken(secret, made.token) };
    },
    invitationsAfter: offers.invitationsAfter,
    invitationNamed: offers.invitationNamed,
    withdrawInvitation: offers.withdrawInvitation,
    changeRole: (member, change) => transactions.together(() => members.changeRole(member, change)),
    remove: (member, change) => transactions.together(() => members.remove(member, change)),
    handle: (request, visitor, requestId) =>
      transactions.together(() =>
        handleAuth(on, request, { visitor, requestId, slowDown: slowGuesses, toldToWait }),
      ),
    async changePassword(visitor, change) {
      await slowGuesses(visitor);
      await transactions.together(() => sessions.changePassword(visitor, change));
    },
    ways: () => ({
      password: true,
      passkey: passkeyHost(url) !== null,
      oidc: oidc.map(({ id, name }) => ({ id, name })),
    }),
    sessionOf: (visitor) => sessionOf(on, visitor),
    welcome: welcome(on, { secret, clock, slowDown, transactions }),
    arrive: (account, visitor) => transactions.together(() => signInWith(on, account, visitor)),
    async invitation(given) {
      const invitation = await offers.open(readInvitationToken(secret, given).token);
      return { invitation, hasAccount: (await on.internal.findUserByEmail(invitation.email)) !== null };
    },
    accept: accept(on, { secret, slowDown, transactions, offers, members }),
    ...resets(on, {
      endAll,
      addressProven: (personId) => addressProven(store, personId),
      slowDown,
      begin: () => transactions.begin(),
      ownerOfManagementKey: (id) => options.ownerOfManagementKey(id),
    }),
    close: () => store.close(),
  };
  return refusingWhileAway(people, store);
}

interface AcceptOn {
  secret: string;
  slowDown(this: void, visitor: Visitor): void;
  transactions: PeopleTransactions;
  offers: Pick<ReturnType<typeof invitations>, "close" | "open">;
  members: Pick<People, "join" | "membership">;
}

/** Accepts as the person signed in with the invited address, or creates an account. */
function accept(on: SignIn, by: AcceptOn): People["accept"] {
  return async (given, { account, visitor }) => {
    by.slowDown(visitor);
    const { token, mailed } = readInvitationToken(by.secret, given);
    const invitation = await by.offers.open(token);
    const { email, organizationId, role } = invitation;
    if (account !== null && (await on.internal.findUserByEmail(email)) !== null)
      throw new OperatorRefusal(
        "conflict",
        `${email} already has an account. Sign in with it, then accept.`,
        "account",
      );
    const signedIn = account === null ? await signedInAs(on, visitor, email) : null;
    const password = account === null ? "" : await kept(on, account.password);
    const person = await by.transactions.together(async () => {
      const member =
        organizationId === null || signedIn === null
          ? null
          : await by.members.membership(organizationId, signedIn.id);
      if (member !== null) throw alreadyMember(member.role, "token");
      if (!(await by.offers.close(token))) throw notOpen();
      const comes =
        signedIn ?? (await newcomer(on, { name: account?.name ?? "", password, invitation, mailed }));
      if (organizationId === null) await on.internal.updateUser(comes.id, { operator: true });
      else await by.members.join(organizationId, comes.id, role);
      return comes;
    });
    return { invitation: { ...invitation, state: "accepted" }, person };
  };
}

async function signedInAs(on: SignIn, visitor: Visitor, email: string): Promise<Person> {
  const signedIn = await sessionOf(on, visitor);
  if (signedIn?.person.email === email) return signedIn.person;
  throw new OperatorRefusal("not_signed_in", `Sign in as ${email} to accept this invitation.`, "token");
}

/** `password` is the stored hash; `mailed`: they came through the link in the invitation's mail. */
async function newcomer(
  on: SignIn,
  {
    name,
    password,
    invitation: { email, invitedBy },
    mailed,
  }: { name: string; password: string; invitation: Invitation; mailed: boolean },
): Promise<Person> {
  const [inviter] = await persons(on).persons([invitedBy]);
  // The inviter sees a link, too; only operators are trusted to have passed it on.
  const proven = mailed || inviter?.operator === true || invitedBy === INSTALLATION;
  return await createAccount(on, { name, email, password, operator: false, proven }, "account");
}

interface WelcomeOn {
  secret: string;
  clock: Clock;
  slowDown(this: void, visitor: Visitor): void;
  transactions: PeopleTransactions;
}

function welcome(on: SignIn, { secret, clock, slowDown, transactions }: WelcomeOn): People["welcome"] {
  const anybody = async (): Promise<boolean> => (await on.records.count({ model: "user" })) > 0;
  return async (token, account: NewAccount, visitor) => {
    slowDown(visitor);
    if (!isFirstRunToken(token, secret, clock.nowMs()) || (await anybody())) throw usedLink();
    const password = await kept(on, account.password);
    return await transactions.together(async () => {
      await transactions.begin();
      // Of everybody who presents a link, on any worker, one creates the first account.
      if (!(await reserveFirst(on))) throw usedLink();
      return await createAccount(on, { ...account, password, operator: true, proven: true }, "email");
    });
  };
}

const FIRST_ACCOUNT = "first-account";
const FOR_EVER_MS = 100 * 365 * DAY_MS;

const reserveFirst = ({ internal }: SignIn): Promise<boolean> =>
  internal.reserveVerificationValue({
    identifier: FIRST_ACCOUNT,
    value: "made",
    expiresAt: new Date(Date.now() + FOR_EVER_MS),
  });

/** A clock that is set back makes nobody wait. */
const throttledBy =
  (throttle: Windows, clock: Clock) =>
  (by: string, whose: string): void => {
    const { fits, resetMs } = throttle.count(by, clock.monotonicMs());
    if (!fits)
      throw new Refusal("rate_limit_exceeded", `Too many attempts ${whose}. Wait a moment, then try again.`, {
        retryAfterMs: resetMs,
      });
  };

const usedLink = (): OperatorRefusal =>
  new OperatorRefusal(
    "link_not_valid",
    "This link was used or has expired. As long as there is no account, restarting the gateway prints a new one.",
    "token",
  );
