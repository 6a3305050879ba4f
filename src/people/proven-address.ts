// Handles accounts that somebody created with another person's address: the inviter sees the link, too, and
// an organization's owner is a customer. Such an address is proven by the link in the invitation's mail
// (`mailed-token.ts`), by a company's statement, or by a link for a new password, which operators send to it.
// Credentials set up before one of the latter two may be anybody's, and are removed.
import type { PeopleStore } from "./store.ts";

/** SQL condition: nobody has proven the address of the account yet. `?1` is the person. */
const UNPROVEN = `EXISTS (SELECT 1 FROM "user" AS person WHERE person.id = ?1 AND person."emailVerified" = FALSE)`;

const PASSWORD = `DELETE FROM account WHERE "userId" = ?1 AND "providerId" = 'credential'`;

/** Sessions come after the credentials that open them, so that none is opened in between. */
const LEFT_BEHIND = [
  `DELETE FROM passkey WHERE "userId" = ?1 AND ${UNPROVEN}`,
  `DELETE FROM "twoFactor" WHERE "userId" = ?1 AND ${UNPROVEN}`,
  `UPDATE "user" SET "twoFactorEnabled" = FALSE WHERE id = ?1 AND "emailVerified" = FALSE`,
  `${PASSWORD} AND ${UNPROVEN}`,
  `DELETE FROM session WHERE "userId" = ?1 AND ${UNPROVEN}`,
];
const PROVE = `UPDATE "user" SET "emailVerified" = TRUE WHERE id = ?1 AND "emailVerified" = FALSE`;

/**
 * Marks the person's address as proven. If it was not, removes the account's password, passkeys, second
 * factor and sessions.
 */
export async function addressProven(store: Pick<PeopleStore, "change">, personId: string): Promise<void> {
  for (const statement of [...LEFT_BEHIND, PROVE]) await store.change(statement, personId);
}
