// Persons and their sessions, in the project's own terms.
import type { NewAccount, Person, PersonSession, People, SignedIn, Visitor } from "./people.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { Refusal } from "../domain/refusals.ts";
import { inHundreds, textOf } from "../store/sql.ts";
import { namedLike } from "./named-like.ts";
import { endResetLinks } from "./reset-links.ts";
import type { UserRow } from "./schema.ts";
import { isFresh } from "./fresh.ts";
import { ADDRESS_HEADER, SESSIONS_MAX, type SignIn } from "./sign-in.ts";
import { standing } from "./still-stands.ts";
import type { PeopleStore } from "./store.ts";

const msOf = (time: Date | string): number => new Date(time).getTime();

const personOf = (row: UserRow): Person => ({
  id: row.id,
  name: row.name,
  email: row.email,
  operator: row.operator === true,
  twoFactor: row.twoFactorEnabled === true,
  proven: row.emailVerified === true,
  createdAtMs: msOf(row.createdAt),
});

/**
 * The headers passed to the library: the address is ours, forwarded addresses have no effect (hardening.md
 * S17).
 */
export function trustedHeaders({ headers, address }: Visitor): Headers {
  const trusted = new Headers(headers);
  for (const name of ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded"])
    trusted.delete(name);
  trusted.set(ADDRESS_HEADER, address ?? "0.0.0.0");
  return trusted;
}

/** The library's id for the password provider, next to those of companies. */
const PASSWORD = "credential";

/**
 * The stored hash of a password. It takes a tenth of a second of CPU time, so it is computed before its
 * transaction begins.
 */
export const kept = (on: SignIn, password: string): Promise<string> => on.context.password.hash(password);

/**
 * Creates an account, inside a transaction. `password` is the stored hash; `proven` means that, as far as is
 * known, the address belongs to the person. Throws if the address has an account; `field` is the input field
 * that gave the address.
 */
export async function createAccount(
  on: SignIn,
  account: NewAccount & { operator: boolean; proven: boolean },
  field: "account" | "email",
): Promise<Person> {
  const email = account.email.toLowerCase();
  const { password } = account;
  if ((await on.internal.findUserByEmail(email)) !== null)
    throw new OperatorRefusal("conflict", "This address already has an account. Sign in with it.", field);
  const user = await on.internal.createUser<{ operator: boolean }>(
    { name: account.name.trim(), email, emailVerified: account.proven, operator: account.operator },
    { method: "email-password" } as never,
  );
  await on.internal.linkAccount({
    userId: user.id,
    providerId: PASSWORD,
    accountId: user.id,
    password,
  } as Parameters<SignIn["internal"]["linkAccount"]>[0]);
  return personOf(user as unknown as UserRow);
}

/** Signs in with a password, past the throttle: for accounts created a moment ago. */
export async function signInWith(
  on: SignIn,
  { email, password }: { email: string; password: string },
  visitor: Visitor,
): Promise<string[]> {
  const headers = trustedHeaders(visitor);
  headers.delete("cookie");
  const body = { email, password };
  const response = await standing(on, () => on.auth.api.signInEmail({ body, headers, asResponse: true }));
  if (!response.ok)
    throw new Error(`the account that was just created cannot sign in: status ${response.status}`);
  return response.headers.getSetCookie();
}

/** The valid session of a visitor, or null. Read from the store at every call. */
export async function sessionOf(on: SignIn, visitor: Visitor): Promise<SignedIn | null> {
  if (!visitor.headers.has("cookie")) return null;
  const found = await on.auth.api.getSession({ headers: trustedHeaders(visitor) });
  if (found === null) return null;
  const expiresAtMs = msOf(found.session.expiresAt);
  if (Number.isNaN(expiresAtMs)) return null; // a damaged expiry counts as expired
  return {
    person: personOf(found.user as unknown as UserRow),
    session: {
      id: found.session.id,
      fresh: isFresh(msOf(found.session.createdAt), on.clock.nowMs()),
      expiresAtMs,
    },
  };
}

type Persons = Pick<People, "anybody" | "personNamed" | "persons" | "rename">;

export const persons = ({ records, internal }: SignIn): Persons => ({
  anybody: async () => (await records.count({ model: "user" })) > 0,
  async personNamed(idOrEmail) {
    const rows = await records.findMany<UserRow>({
      model: "user",
      where: [
        { field: "id", value: idOrEmail, connector: "OR" },
        { field: "email", value: idOrEmail.toLowerCase(), connector: "OR" },
      ],
      limit: 1,
    });
    return rows.map(personOf)[0] ?? null;
  },
  async persons(ids) {
    const found: Person[] = [];
    for (const some of inHundreds(ids)) {
      const where = [{ field: "id", operator: "in" as const, value: some }];
      const rows = await records.findMany<UserRow>({ model: "user", where, limit: some.length });
      found.push(...rows.map(personOf));
    }
    return found;
  },
  async rename(personId, name) {
    await internal.updateUser(personId, { name });
  },
});

/** Accounts in pages. */
export const accountPages = (
  { rows }: Pick<PeopleStore, "rows">,
  of: Pick<People, "persons">,
): Pick<People, "accountsAfter" | "accountsById"> => ({
  async accountsAfter({ after, search, most }) {
    const named = namedLike(2, search);
    const found = await rows(
      `SELECT u.id FROM "user" u
       WHERE u.email > CASE WHEN ?1 = '' THEN '' ELSE (SELECT last.email FROM "user" last WHERE last.id = ?1) END
         AND ${named.condition}
       ORDER BY u.email LIMIT ${most}`,
      after,
      ...named.values,
    );
    return await inOrder(of, found);
  },
  async accountsById({ after, search, most }) {
    const named = namedLike(2, search);
    const found = await rows(
      `SELECT u.id FROM "user" u WHERE u.id > ?1 AND ${named.condition} ORDER BY u.id LIMIT ${most}`,
      after,
      ...named.values,
    );
    return await inOrder(of, found);
  },
});

async function inOrder(
  of: Pick<People, "persons">,
  found: readonly Record<string, unknown>[],
): Promise<Person[]> {
  const ids = found.map(({ id }) => textOf(id));
  const persons = new Map((await of.persons(ids)).map((person) => [person.id, person]));
  return ids.flatMap((id) => persons.get(id) ?? []);
}

interface SessionRow {
  id: string;
  createdAt: Date | string;
  updatedAt: Date | string;
  expiresAt: Date | string;
  ipAddress?: string | null;
  userAgent?: string | null;
}

const chosen = (which: Parameters<People["endSessions"]>[1]) => {
  if (which === "all") return [];
  return "only" in which
    ? [{ field: "id", value: which.only }]
    : [{ field: "id", operator: "ne" as const, value: which.allBut }];
};

type Sessions = Pick<People, "changePassword" | "endSessions" | "passkeys" | "sessions">;

export const sessionKeeping = (on: SignIn): Sessions => ({
  async changePassword(visitor, { current, next }) {
    const headers = trustedHeaders(visitor);
    const body = { currentPassword: current, newPassword: next, revokeOtherSessions: false };
    const response = await on.auth.api.changePassword({ body, headers, asResponse: true });
    if (!response.ok)
      throw new Refusal("invalid_request", "The current password is wrong.", { param: "current" });
    const signedIn = await sessionOf(on, visitor);
    if (signedIn === null) return;
    await endResetLinks(on, signedIn.person.id);
    await this.endSessions(signedIn.person.id, { allBut: signedIn.session.id });
  },
  async sessions(personId) {
    const where = [
      { field: "userId", value: personId },
      { field: "expiresAt", operator: "gt" as const, value: new Date() },
    ];
    const sortBy = { field: "createdAt", direction: "desc" as const };
    const rows = await on.records.findMany<SessionRow>({
      model: "session",
      where,
      sortBy,
      limit: SESSIONS_MAX,
    });
    return rows.map(
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
    // One statement for all rows: the library's own list ends after a hundred.
    const where = [{ field: "userId", value: personId }, ...chosen(which)];
    return (await on.records.deleteMany({ model: "session", where })) > 0;
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
