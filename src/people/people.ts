// People, put together: the sign-in library with its store, memberships, invitations, the first-run link.
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Arrival, NewAccount, People, Visitor } from "../contract/people.ts";
import { Refusal } from "../contract/refusals.ts";
import { createAccount, persons, sessionKeeping, sessionOf, signInWith } from "./accounts.ts";
import { answers } from "./answers.ts";
import { refusingWhileAway } from "./away.ts";
import { handleAuth } from "./door.ts";
import { isFirstRunToken } from "./first-run.ts";
import { invitations } from "./invitations.ts";
import { resets } from "./resets.ts";
import { usageViews } from "./usage-views.ts";
import { memberships, rules } from "./memberships.ts";
import { type OidcProvider, openSignIn, passkeyHost, type SignIn } from "./sign-in.ts";
import { openPeopleStore, type PeoplePlace } from "./store.ts";
import { Throttle } from "./turnstile.ts";

export interface PeopleOptions {
  place: PeoplePlace;
  secret: string;
  url: string;
  origins: string[];
  oidc: OidcProvider[];
  signInsPerMinute: number;
}

export async function openPeople(options: PeopleOptions): Promise<People> {
  const store = await openPeopleStore(options.place);
  const { secret, url, origins, oidc, signInsPerMinute } = options;
  const on = await openSignIn({ store, secret, url, origins, oidc, signInsPerMinute });
  const sessions = sessionKeeping(on);
  const throttle = new Throttle(signInsPerMinute, 60_000);
  const endAll = (personId: string): Promise<unknown> => sessions.endSessions(personId, "all");
  const kept = invitations({ records: on.records, store });
  const members = memberships({ records: on.records, store }, endAll);
  const people: People = {
    ...sessions,
    ...members,
    ...rules(on.records),
    ...usageViews(on),
    ...answers(on),
    invite: kept.invite,
    invitations: kept.invitations,
    withdrawInvitation: kept.withdrawInvitation,
    handle: (request, visitor, requestId) => handleAuth(on, request, visitor, requestId),
    ways: () => ({
      password: true,
      passkey: passkeyHost(url) !== null,
      oidc: oidc.map(({ id, name }) => ({ id, name })),
    }),
    sessionOf: (visitor) => sessionOf(on, visitor),
    anybody: async () => (await on.records.count({ model: "user" })) > 0,
    persons: (ids) => persons(on, ids),
    welcome: welcome(on, secret, throttle),
    async invitation(token) {
      const invitation = await kept.open(token);
      return { invitation, hasAccount: (await on.internal.findUserByEmail(invitation.email)) !== null };
    },
    async accept(token, { account, visitor }) {
      slowDown(throttle, visitor);
      const invitation = await kept.open(token);
      const arrival = await arrive(on, { account, visitor, email: invitation.email }, () =>
        kept.close(token),
      );
      if (invitation.organizationId === null)
        await on.internal.updateUser(arrival.person.id, { operator: true });
      else await members.join(invitation.organizationId, arrival.person.id, invitation.role);
      return { invitation: { ...invitation, state: "accepted" }, arrival };
    },
    ...resets(on, { endAll, slowDown: (visitor) => slowDown(throttle, visitor) }),
    setOperator: async (personId, operator) => {
      await on.internal.updateUser(personId, { operator });
      await endAll(personId);
    },
    rename: async (personId, name) => {
      await on.internal.updateUser(personId, { name });
    },
    close: () => store.close(),
  };
  return refusingWhileAway(people, store);
}

/** Accepts as who is signed in with the invited address, or makes the account. */
async function arrive(
  on: SignIn,
  by: { account: { name: string; password: string } | null; visitor: Visitor; email: string },
  close: () => Promise<boolean>,
): Promise<Arrival> {
  const { account, visitor, email } = by;
  const signedIn = await sessionOf(on, visitor);
  if (account === null) {
    if (signedIn?.person.email !== email)
      throw new OperatorRefusal("not_signed_in", `Sign in as ${email} to accept this invitation.`, "token");
    if (!(await close())) throw usedLink();
    return { person: signedIn.person, cookies: [] };
  }
  if ((await on.internal.findUserByEmail(email)) !== null)
    throw new OperatorRefusal(
      "conflict",
      `${email} has an account. Sign in with it, then accept.`,
      "account",
    );
  if (!(await close())) throw usedLink();
  const person = await createAccount(on, { ...account, email, operator: false });
  return { person, cookies: await signInWith(on, { email, password: account.password }, visitor) };
}

function welcome(on: SignIn, secret: string, throttle: Throttle): People["welcome"] {
  const anybody = async (): Promise<boolean> => (await on.records.count({ model: "user" })) > 0;
  return async (token, account: NewAccount, visitor) => {
    slowDown(throttle, visitor);
    if (!isFirstRunToken(token, secret, Date.now()) || (await anybody())) throw usedLink();
    // Of all who come with a link, to whatever worker, one makes the first account.
    if (!(await reserveFirst(on))) throw usedLink();
    try {
      const person = await createAccount(on, { ...account, operator: true });
      return { person, cookies: await signInWith(on, account, visitor) };
    } catch (error) {
      if (!(await anybody())) await on.internal.deleteVerificationByIdentifier(FIRST_ACCOUNT);
      throw error;
    }
  };
}

const FIRST_ACCOUNT = "first-account";
const FOR_EVER_MS = 100 * 365 * 86_400_000;

const reserveFirst = ({ internal }: SignIn): Promise<boolean> =>
  internal.reserveVerificationValue({
    identifier: FIRST_ACCOUNT,
    value: "made",
    expiresAt: new Date(Date.now() + FOR_EVER_MS),
  });

function slowDown(throttle: Throttle, { address }: Visitor): void {
  const waitMs = throttle.wait(address ?? "", Date.now());
  if (waitMs > 0)
    throw new Refusal("rate_limit_exceeded", "Too many tries from this address. Wait a little.", {
      retryAfterMs: waitMs,
    });
}

const usedLink = (): OperatorRefusal =>
  new OperatorRefusal(
    "link_not_valid",
    "This link was used or has expired. While there is no account, a restart of the gateway prints a new one.",
    "token",
  );
