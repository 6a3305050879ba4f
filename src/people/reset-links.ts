// Links for a new password, stored among the sign-in library's verifications under the digest of their token.
import type { SignIn } from "./sign-in.ts";

/** The prefix of the digest. */
export const RESET = "reset ";

/** Ends all of an account's links: there is a newer one, or a new password. */
export async function endResetLinks({ records }: Pick<SignIn, "records">, personId: string): Promise<void> {
  const operator = "starts_with" as const;
  const where = [
    { field: "identifier", operator, value: RESET },
    { field: "value", operator, value: `${personId} ` },
  ];
  await records.deleteMany({ model: "verification", where });
}
