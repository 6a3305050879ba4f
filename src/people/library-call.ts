// What happens inside a call of the sign-in library that its result does not show: how a session is opened in
// it (`still-stands.ts`). A second factor follows a password through a challenge of the library, perhaps
// minutes later, so a mark of the password at that time is stored next to the challenge.
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import type { Refusal } from "../domain/refusals.ts";

/** State of one call of the library. */
export interface LibraryCall {
  /** Kept here because the library would turn it into an error of its own. */
  refusal: Refusal | null;
  /** The mark of the password that was correct, now or when the second factor was requested. */
  password: string | null;
  /** The credential of the presented passkey. */
  passkey: string | null;
  /** The row of the second factor whose code was presented. */
  factor: string | null;
  session: { id: string; userId: string } | null;
}
export const insideCall = new AsyncLocalStorage<LibraryCall>();

/**
 * A fingerprint of a stored password hash: distinguishes it from others, and is useless for anything else.
 */
export const markOfPassword = (kept: string): string => createHash("sha256").update(kept).digest("base64url");

/** The library's challenge, by which a second factor follows a password. */
const CHALLENGE = /^2fa-(?!attempts-)/;
const passwordOf = (challenge: string): string => `password of ${challenge}`;

interface Kept {
  identifier: string;
  value: string;
  expiresAt: Date;
}

/**
 * Called by the library's hook after each verification row: stores the mark of a challenge's password next to
 * it.
 */
export async function keepPassword(
  { identifier, expiresAt }: Kept,
  context: { context: { internalAdapter: { createVerificationValue(kept: Kept): Promise<unknown> } } } | null,
): Promise<void> {
  const password = insideCall.getStore()?.password ?? null;
  if (context === null || password === null || !CHALLENGE.test(identifier)) return;
  const { internalAdapter: internal } = context.context;
  await internal.createVerificationValue({ identifier: passwordOf(identifier), value: password, expiresAt });
}

/**
 * Runs before a code is checked: loads the mark of the password that its challenge stands on; if unknown, one
 * that matches no account.
 */
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
