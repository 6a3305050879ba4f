// Links for a new password, as they are kept among what the sign-in library verifies: by the digest of their token.
import type { SignIn } from "./sign-in.ts";

/** Before the digest. */
export const RESET = "reset ";

/** None of an account's opens anything any more: there is a newer one, or a new password. */
export async function endResetLinks({ records }: Pick<SignIn, "records">, personId: string): Promise<void> {
  const operator = "starts_with" as const;
  const where = [
    { field: "identifier", operator, value: RESET },
    { field: "value", operator, value: `${personId} ` },
  ];
  await records.deleteMany({ model: "verification", where });
}
