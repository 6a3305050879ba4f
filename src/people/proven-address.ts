// Whose an account is that somebody made of another one's address: whoever invites sees the link, and an organization's owner is
// a customer. Such an address is proven by the link of the invitation's mail (`mailed-token.ts`), by a company's word for it, or
// by a link for a new password, which operators send there; what was set up before the latter two is whoever's it was, and ends.
import type { PeopleStore } from "./store.ts";

/** Whether nobody has proven yet that the account's address is theirs. `?1` is the person. */
const UNPROVEN = `EXISTS (SELECT 1 FROM "user" AS person WHERE person.id = ?1 AND person."emailVerified" = FALSE)`;

const PASSWORD = `DELETE FROM account WHERE "userId" = ?1 AND "providerId" = 'credential'`;

/** Sessions behind what they are opened with, so that none is opened meanwhile. */
const LEFT_BEHIND = [
  `DELETE FROM passkey WHERE "userId" = ?1 AND ${UNPROVEN}`,
  `DELETE FROM "twoFactor" WHERE "userId" = ?1 AND ${UNPROVEN}`,
  `UPDATE "user" SET "twoFactorEnabled" = FALSE WHERE id = ?1 AND "emailVerified" = FALSE`,
  `${PASSWORD} AND ${UNPROVEN}`,
  `DELETE FROM session WHERE "userId" = ?1 AND ${UNPROVEN}`,
];
const PROVE = `UPDATE "user" SET "emailVerified" = TRUE WHERE id = ?1 AND "emailVerified" = FALSE`;

/** The person has proven the address: of an account where nobody had, password, passkeys, second factor and sessions end. */
export async function addressProven(store: Pick<PeopleStore, "change">, personId: string): Promise<void> {
  for (const statement of [...LEFT_BEHIND, PROVE]) await store.change(statement, personId);
}
