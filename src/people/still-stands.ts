// A session stands on the credentials that opened it: the password, the passkey, the second factor. Each is
// read once more when the session exists, because a new password, a proven address or an operator may have
// ended it since. Those delete credentials first and sessions last, so one of the two sees the other.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { insideCall, type LibraryCall, markOfPassword } from "./library-call.ts";
import type { SignIn } from "./sign-in.ts";

/**
 * Runs one call of the library. Throws a refusal raised inside, and throws if the credentials of a new
 * session no longer stand.
 */
export async function standing<T>(
  on: SignIn,
  work: () => Promise<T>,
  shown: Pick<LibraryCall, "passkey"> = { passkey: null },
): Promise<T> {
  const call: LibraryCall = { refusal: null, password: null, factor: null, session: null, ...shown };
  const answer = await insideCall.run(call, work);
  if (call.refusal !== null) throw call.refusal;
  await requireStanding(on, call);
  return answer;
}

async function requireStanding(on: SignIn, call: LibraryCall): Promise<void> {
  const { session } = call;
  if (session === null || (await stands(on, call, session.userId))) return;
  await on.records.deleteMany({ model: "session", where: [{ field: "id", value: session.id }] });
  throw new OperatorRefusal(
    "not_signed_in",
    "Your sign-in details have just been changed. Sign in again with the new ones.",
  );
}

async function stands(
  { internal, records }: SignIn,
  { password, passkey, factor }: LibraryCall,
  userId: string,
): Promise<boolean> {
  const there = async (model: string, field: string, value: string): Promise<boolean> => {
    const of = { field: "userId", value: userId };
    return (await records.count({ model, where: [{ field, value }, of] })) > 0;
  };
  if (password !== null) {
    const kept = (await internal.findCredentialAccount(userId))?.password ?? "";
    if (markOfPassword(kept) !== password) return false;
  }
  if (passkey !== null && !(await there("passkey", "credentialID", passkey))) return false;
  return factor === null || (await there("twoFactor", "id", factor));
}
