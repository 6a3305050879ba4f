// For people who can no longer sign in: an operator creates a link that sets a new password, once, within an
// hour, as long as they remain an operator (docs/decisions/0018-authority-is-of-persons.md).
import { HOUR_MS } from "../domain/durations.ts";
import { INSTALLATION } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { People, Person, Visitor } from "./people.ts";
import { kept, persons } from "./accounts.ts";
import { tokenDigest, newToken } from "./invitations.ts";
import { endResetLinks, RESET } from "./reset-links.ts";
import type { SignIn } from "./sign-in.ts";

const OPEN_MS = HOUR_MS;
const PROVIDER = "credential";

type Resets = Pick<People, "removeTwoFactor" | "reset" | "resetToken">;

const placeOf = (token: string): string => RESET + tokenDigest(token);

interface ResetsPorts {
  endAll(personId: string): Promise<unknown>;
  addressProven(personId: string): Promise<void>;
  slowDown(visitor: Visitor): void;
  /** Makes the verification of a link part of the change from here on. */
  begin(): Promise<void>;
  /** A person or the installation; null if the key is not valid. */
  ownerOfManagementKey(id: string): Promise<string | null>;
}

/** True if a person, or the owner of a management key, may create links at this moment. */
async function operates(
  on: SignIn,
  { ownerOfManagementKey }: Pick<ResetsPorts, "ownerOfManagementKey">,
  maker: string,
): Promise<boolean> {
  const owner = maker.startsWith("mk_") ? await ownerOfManagementKey(maker) : maker;
  if (owner === null || owner === INSTALLATION) return owner !== null;
  const [person] = await persons(on).persons([owner]);
  return person?.operator === true;
}

/** Throws if the link is not valid. */
async function personOfLink(on: SignIn, by: ResetsPorts, link: { value: string } | null): Promise<Person> {
  const [personId = "", maker = ""] = link?.value.split(" ") ?? [];
  const [person] = await persons(on).persons([personId]);
  if (person !== undefined && (await operates(on, by, maker))) return person;
  throw new OperatorRefusal(
    "link_not_valid",
    "This link was used or has expired, or the person who created it is no longer an operator. Ask for a new one.",
    "token",
  );
}

export const resets = (on: SignIn, by: ResetsPorts): Resets => ({
  async resetToken(personId, maker) {
    await by.begin();
    if ((await persons(on).persons([personId])).length === 0) return null;
    await endResetLinks(on, personId);
    const token = newToken();
    const expiresAtMs = Date.now() + OPEN_MS;
    const expiresAt = new Date(expiresAtMs);
    await on.internal.createVerificationValue({
      identifier: placeOf(token),
      value: `${personId} ${maker}`,
      expiresAt,
    });
    return { token, expiresAtMs };
  },
  async reset(token, password, visitor) {
    by.slowDown(visitor);
    const place = placeOf(token);
    await personOfLink(on, by, await on.internal.findVerificationValue(place));
    const hash = await kept(on, password);
    await by.begin();
    const person = await personOfLink(on, by, await on.internal.consumeVerificationValue(place));
    await by.addressProven(person.id); // operators send the link to this address
    if ((await on.internal.findCredentialAccount(person.id)) === null)
      await on.internal.linkAccount({
        userId: person.id,
        providerId: PROVIDER,
        accountId: person.id,
        password: hash,
      } as Parameters<SignIn["internal"]["linkAccount"]>[0]);
    else await on.internal.updatePassword(person.id, hash);
    await endResetLinks(on, person.id);
    await by.endAll(person.id);
    return person;
  },
  async removeTwoFactor(personId) {
    const where = [{ field: "userId", value: personId }];
    await on.records.deleteMany({ model: "twoFactor", where });
    await on.records.deleteMany({ model: "passkey", where });
    await on.internal.updateUser(personId, { twoFactorEnabled: false });
  },
});
