// People, put together: the sign-in library with its store, memberships, invitations, the first-run link.
import { DAY_MS } from "../domain/durations.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { Arrival, Invitation, NewAccount, People, Visitor } from "./people.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/networks.ts";
import { accountPages, createAccount, persons, sessionKeeping, sessionOf, signInWith } from "./accounts.ts";
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
import { openPeopleStore, type PeoplePlace, type PeopleStore } from "./store.ts";
import { toldAway } from "../store/postgres-error.ts";
import { Windows } from "../limits/window.ts";

export interface PeopleOptions extends Omit<SignInOptions, "store"> {
  place: PeoplePlace;
  /** A person, or the installation; null for one that opens nothing. */
  ownerOfManagementKey(id: string): Promise<string | null>;
}

/** Rejects, with its store closed again, where people cannot be opened; as `overloaded` where their database is away. */
export async function openPeople(options: PeopleOptions): Promise<People> {
  const store = await openPeopleStore(options.place);
  try {
    return await peopleOn(store, options);
  } catch (error) {
    await store.close();
    throw toldAway(error);
  }
}

async function peopleOn(store: PeopleStore, options: PeopleOptions): Promise<People> {
  const { clock, secret, url, origins, oidc, signInsPerMinute, passwords } = options;
  const on = await openSignIn({ store, secret, url, origins, oidc, signInsPerMinute, clock, passwords });
  const sessions = sessionKeeping(on);
  const throttle = new Windows({ most: signInsPerMinute, windowMs: 60_000, kept: 10_000 });
  const countTry = throttledBy(throttle, clock);
  const slowDown = ({ address }: Visitor): void => countTry(networkOf(address ?? ""), "from this address");
  const toldToWait = new ToldToWait(clock);
  const endAll = (personId: string): Promise<unknown> => sessions.endSessions(personId, "all");
  /** Of the password of somebody who is signed in: whoever found a session open has tries at it, and takes none from another. */
  const slowGuesses = async (visitor: Visitor): Promise<void> => {
    const signedIn = await sessionOf(on, visitor);
    if (signedIn !== null) countTry(`session ${signedIn.session.id}`, "with this sign-in");
  };
  const kept = invitations({ records: on.records, store });
  const members = memberships({ records: on.records, store }, endAll);
  const people: People = {
    ...sessions,
    ...persons(on),
    ...accountPages(store, persons(on)),
    ...members,
    ...operators(store, endAll),
    ...organizationRules(on.records),
    ...usageViews(on),
    ...answers(on, clock),
    async invite(invitation) {
      const made = await kept.invite(invitation);
      return { ...made, mailedToken: mailedToken(secret, made.token) };
    },
    invitations: kept.invitations,
    withdrawInvitation: kept.withdrawInvitation,
    handle: (request, visitor, requestId) =>
      handleAuth(on, request, { visitor, requestId, slowDown: slowGuesses, toldToWait }),
    async changePassword(visitor, change) {
      await slowGuesses(visitor);
      await sessions.changePassword(visitor, change);
    },
    ways: () => ({
      password: true,
      passkey: passkeyHost(url) !== null,
      oidc: oidc.map(({ id, name }) => ({ id, name })),
    }),
    sessionOf: (visitor) => sessionOf(on, visitor),
    welcome: welcome(on, { secret, clock, slowDown }),
    async invitation(given) {
      const invitation = await kept.open(readInvitationToken(secret, given).token);
      return { invitation, hasAccount: (await on.internal.findUserByEmail(invitation.email)) !== null };
    },
    async accept(given, { account, visitor }) {
      slowDown(visitor);
      const { token, mailed } = readInvitationToken(secret, given);
      const invitation = await kept.open(token);
      const arrival = await arrive(on, { account, visitor, invitation, mailed }, { kept, members, token });
      const { organizationId, role } = invitation;
      try {
        if (organizationId === null) await on.internal.updateUser(arrival.person.id, { operator: true });
        else await members.join(organizationId, arrival.person.id, role);
      } catch (error) {
        if (!(error instanceof OperatorRefusal)) await kept.reopen(token);
        throw error;
      }
      return { invitation: { ...invitation, state: "accepted" }, arrival };
    },
    ...resets(on, {
      endAll,
      addressProven: (personId) => addressProven(store, personId),
      slowDown,
      ownerOfManagementKey: (id) => options.ownerOfManagementKey(id),
    }),
    close: () => store.close(),
  };
  return refusingWhileAway(people, store);
}

interface Taking {
  kept: Pick<ReturnType<typeof invitations>, "close" | "reopen">;
  members: Pick<People, "membership">;
  token: string;
}

/** Accepts as who is signed in with the invited address, or makes the account. */
async function arrive(
  on: SignIn,
  by: {
    account: { name: string; password: string } | null;
    visitor: Visitor;
    invitation: Invitation;
    mailed: boolean;
  },
  { kept, members, token }: Taking,
): Promise<Arrival> {
  const { account, visitor, invitation, mailed } = by;
  const { email, organizationId } = invitation;
  const signedIn = await sessionOf(on, visitor);
  if (account === null) {
    if (signedIn?.person.email !== email)
      throw new OperatorRefusal("not_signed_in", `Sign in as ${email} to accept this invitation.`, "token");
    const { person } = signedIn;
    const member = organizationId === null ? null : await members.membership(organizationId, person.id);
    if (member !== null) throw alreadyMember(member.role, "token");
    if (!(await kept.close(token))) throw notOpen();
    return { person, cookies: [] };
  }
  if ((await on.internal.findUserByEmail(email)) !== null)
    throw new OperatorRefusal(
      "conflict",
      `${email} has an account. Sign in with it, then accept.`,
      "account",
    );
  if (!(await kept.close(token))) throw notOpen();
  try {
    const [inviter] = await persons(on).persons([invitation.invitedBy]);
    // Who invites sees a link, too; only of an operator it is known that they pass it on.
    const proven = mailed || inviter?.operator === true || invitation.invitedBy === INSTALLATION;
    const person = await createAccount(on, { ...account, email, operator: false, proven }, "account");
    return { person, cookies: await signInWith(on, { email, password: account.password }, visitor) };
  } catch (error) {
    // Of an account that could not be made, the link is as good as before.
    await kept.reopen(token);
    throw error;
  }
}

interface WelcomeOn {
  secret: string;
  clock: Clock;
  slowDown(this: void, visitor: Visitor): void;
}

function welcome(on: SignIn, { secret, clock, slowDown }: WelcomeOn): People["welcome"] {
  const anybody = async (): Promise<boolean> => (await on.records.count({ model: "user" })) > 0;
  return async (token, account: NewAccount, visitor) => {
    slowDown(visitor);
    if (!isFirstRunToken(token, secret, clock.nowMs()) || (await anybody())) throw usedLink();
    // Of all who come with a link, to whatever worker, one makes the first account.
    if (!(await reserveFirst(on))) throw usedLink();
    try {
      const person = await createAccount(on, { ...account, operator: true, proven: true }, "email");
      return { person, cookies: await signInWith(on, account, visitor) };
    } catch (error) {
      if (!(await anybody())) await on.internal.deleteVerificationByIdentifier(FIRST_ACCOUNT);
      throw error;
    }
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

/** A clock that is set back keeps nobody waiting. */
const throttledBy =
  (throttle: Windows, clock: Clock) =>
  (by: string, whose: string): void => {
    const { fits, resetMs } = throttle.count(by, clock.monotonicMs());
    if (!fits)
      throw new Refusal("rate_limit_exceeded", `Too many tries ${whose}. Wait a little.`, {
        retryAfterMs: resetMs,
      });
  };

const usedLink = (): OperatorRefusal =>
  new OperatorRefusal(
    "link_not_valid",
    "This link was used or has expired. While there is no account, a restart of the gateway prints a new one.",
    "token",
  );
