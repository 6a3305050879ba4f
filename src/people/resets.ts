// For those who cannot sign in any more: an operator makes a link that sets a new password, once, within an hour.
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { People, Visitor } from "../contract/people.ts";
import { persons } from "./accounts.ts";
import { digestOf, newToken } from "./invitations.ts";
import type { SignIn } from "./sign-in.ts";

const OPEN_MS = 3_600_000;
const PROVIDER = "credential";

type Resets = Pick<People, "removeTwoFactor" | "reset" | "resetToken">;

const placeOf = (token: string): string => `reset ${digestOf(token)}`;

export const resets = (
  on: SignIn,
  by: { endAll(personId: string): Promise<unknown>; slowDown(visitor: Visitor): void },
): Resets => ({
  async resetToken(personId) {
    if ((await persons(on, [personId])).length === 0) return null;
    const token = newToken();
    const expiresAtMs = Date.now() + OPEN_MS;
    const expiresAt = new Date(expiresAtMs);
    await on.internal.createVerificationValue({ identifier: placeOf(token), value: personId, expiresAt });
    return { token, expiresAtMs };
  },
  async reset(token, password, visitor) {
    by.slowDown(visitor);
    const found = await on.internal.consumeVerificationValue(placeOf(token));
    const [person] = found === null ? [] : await persons(on, [found.value]);
    if (person === undefined)
      throw new OperatorRefusal(
        "link_not_valid",
        "This link was used or has expired. Ask for a new one.",
        "token",
      );
    const hash = await on.context.password.hash(password);
    if ((await on.internal.findCredentialAccount(person.id)) === null)
      await on.internal.linkAccount({
        userId: person.id,
        providerId: PROVIDER,
        accountId: person.id,
        password: hash,
      } as Parameters<SignIn["internal"]["linkAccount"]>[0]);
    else await on.internal.updatePassword(person.id, hash);
    await by.endAll(person.id);
    return person;
  },
  async removeTwoFactor(personId) {
    await on.records.deleteMany({ model: "twoFactor", where: [{ field: "userId", value: personId }] });
    await on.internal.updateUser(personId, { twoFactorEnabled: false });
  },
});
