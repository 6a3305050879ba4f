// What one call of the sign-in library does inside and does not tell: with what a session is opened in it (`still-stands.ts`).
// A second factor follows a password by a challenge of the library, minutes later, perhaps: what the password was then is kept
// beside it.
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import type { Refusal } from "../domain/refusals.ts";

/** One call of the library: what it does inside, and does not tell. */
export interface LibraryCall {
  /** It would make a failure of its own of it. */
  refusal: Refusal | null;
  /** The mark of the password that was right, now or when the second factor was asked for. */
  password: string | null;
  /** The credential of the passkey that was shown. */
  passkey: string | null;
  /** The row of the second factor that a code was shown of. */
  factor: string | null;
  session: { id: string; userId: string } | null;
}
export const insideCall = new AsyncLocalStorage<LibraryCall>();

/** Of what is kept of a password: tells it from another, and is of no use for anything else. */
export const markOfPassword = (kept: string): string => createHash("sha256").update(kept).digest("base64url");

/** A challenge of the library, by which a second factor follows a password. */
const CHALLENGE = /^2fa-(?!attempts-)/;
const passwordOf = (challenge: string): string => `password of ${challenge}`;

interface Kept {
  identifier: string;
  value: string;
  expiresAt: Date;
}

/** For the library's hook behind each row of what it verifies: a challenge's password is kept beside it. */
export async function keepPassword(
  { identifier, expiresAt }: Kept,
  context: { context: { internalAdapter: { createVerificationValue(kept: Kept): Promise<unknown> } } } | null,
): Promise<void> {
  const password = insideCall.getStore()?.password ?? null;
  if (context === null || password === null || !CHALLENGE.test(identifier)) return;
  const { internalAdapter: internal } = context.context;
  await internal.createVerificationValue({ identifier: passwordOf(identifier), value: password, expiresAt });
}

/** Before a code is looked at: which password its challenge stands on, none that fits any account where that is not known. */
export const rememberPassword = createAuthMiddleware(async (ctx) => {
  const call = insideCall.getStore();
  if (call === undefined || (await getSessionFromCtx(ctx)) !== null) return;
  const { internalAdapter: internal, adapter, secret } = ctx.context;
  const challenge = await ctx.getSignedCookie(ctx.context.createAuthCookie("two_factor").name, secret);
  const userId = challenge ? (await internal.findVerificationValue(challenge))?.value : undefined;
  if (!challenge || userId === undefined) return;
  call.password = (await internal.findVerificationValue(passwordOf(challenge)))?.value ?? "";
  const where = [{ field: "userId", value: userId }];
  call.factor = (await adapter.findOne<{ id: string }>({ model: "twoFactor", where }))?.id ?? "";
});
