// Persons and their sessions, in the words of the house.
import type { NewAccount, Person, PersonSession, People, SignedIn, Visitor } from "../contract/people.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import { Refusal } from "../contract/refusals.ts";
import type { UserRow } from "./schema.ts";
import { ADDRESS_HEADER, type SignIn } from "./sign-in.ts";

const msOf = (time: Date | string): number => new Date(time).getTime();

export const personOf = (row: UserRow): Person => ({
  id: row.id,
  name: row.name,
  email: row.email,
  operator: row.operator === true,
  twoFactor: row.twoFactorEnabled === true,
  createdAtMs: msOf(row.createdAt),
});

/** Headers as the library reads them: the address is ours, forwarded ones decide nothing (hardening.md S17). */
export function trustedHeaders({ headers, address }: Visitor): Headers {
  const trusted = new Headers(headers);
  for (const name of ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded"])
    trusted.delete(name);
  trusted.set(ADDRESS_HEADER, address ?? "0.0.0.0");
  return trusted;
}

/** Makes an account with a password. Throws when the address has one. */
export async function createAccount(
  on: SignIn,
  account: NewAccount & { operator: boolean },
): Promise<Person> {
  const email = account.email.toLowerCase();
  if ((await on.internal.findUserByEmail(email)) !== null)
    throw new OperatorRefusal("conflict", "This address has an account. Sign in with it.", "email");
  const password = await on.context.password.hash(account.password);
  // The link stands for the address: whoever was sent it, or reads this terminal, was meant.
  const user = await on.internal.createUser<{ operator: boolean }>(
    { name: account.name.trim(), email, emailVerified: true, operator: account.operator },
    { method: "email-password" } as never,
  );
  await on.internal.linkAccount({
    userId: user.id,
    providerId: "credential",
    accountId: user.id,
    password,
  } as Parameters<SignIn["internal"]["linkAccount"]>[0]);
  return personOf(user as unknown as UserRow);
}

/** Signs in with a password, past the throttle: for accounts that were made a moment ago. */
export async function signInWith(
  on: SignIn,
  { email, password }: { email: string; password: string },
  visitor: Visitor,
): Promise<string[]> {
  const headers = trustedHeaders(visitor);
  headers.delete("cookie");
  const response = await on.auth.api.signInEmail({ body: { email, password }, headers, asResponse: true });
  if (!response.ok)
    throw new Error(`the account that was made a moment ago cannot sign in: ${response.status}`);
  return response.headers.getSetCookie();
}

export async function sessionOf(on: SignIn, visitor: Visitor): Promise<SignedIn | null> {
  if (!visitor.headers.has("cookie")) return null;
  const found = await on.auth.api.getSession({ headers: trustedHeaders(visitor) });
  if (found === null) return null;
  return {
    person: personOf(found.user as unknown as UserRow),
    session: {
      id: found.session.id,
      createdAtMs: msOf(found.session.createdAt),
      expiresAtMs: msOf(found.session.expiresAt),
    },
  };
}

export async function persons(on: SignIn, ids?: readonly string[]): Promise<Person[]> {
  if (ids?.length === 0) return [];
  const where = ids === undefined ? [] : [{ field: "id", operator: "in" as const, value: [...ids] }];
  const rows = await on.records.findMany<UserRow>({ model: "user", where, limit: 10_000 });
  return rows.map(personOf);
}

type Sessions = Pick<People, "changePassword" | "endSessions" | "passkeys" | "sessions">;

export const sessionKeeping = (on: SignIn): Sessions => ({
  async changePassword(visitor, { current, next }) {
    const headers = trustedHeaders(visitor);
    const body = { currentPassword: current, newPassword: next, revokeOtherSessions: false };
    const response = await on.auth.api.changePassword({ body, headers, asResponse: true });
    if (!response.ok)
      throw new Refusal("invalid_request", "The current password is not right.", { param: "current" });
    const signedIn = await sessionOf(on, visitor);
    if (signedIn !== null) await this.endSessions(signedIn.person.id, { allBut: signedIn.session.id });
  },
  async sessions(personId) {
    const rows = await on.internal.listSessions(personId);
    return rows
      .filter(({ expiresAt }) => msOf(expiresAt) > Date.now())
      .map(
        (row): PersonSession => ({
          id: row.id,
          createdAtMs: msOf(row.createdAt),
          seenAtMs: msOf(row.updatedAt),
          expiresAtMs: msOf(row.expiresAt),
          address: row.ipAddress || null,
          agent: row.userAgent || null,
        }),
      );
  },
  async endSessions(personId, which) {
    const open = await on.internal.listSessions(personId);
    const ended = open.filter(({ id }) => {
      if (which === "all") return true;
      return "only" in which ? id === which.only : id !== which.allBut;
    });
    for (const { token } of ended) await on.internal.deleteSession(token);
    return ended.length > 0;
  },
  async passkeys(personId) {
    const where = [{ field: "userId", value: personId }];
    const rows = await on.records.findMany<{
      id: string;
      name: string | null;
      createdAt: Date | string | null;
    }>({
      model: "passkey",
      where,
    });
    return rows.map(({ id, name, createdAt }) => ({ id, name, createdAtMs: msOf(createdAt ?? new Date(0)) }));
  },
});
