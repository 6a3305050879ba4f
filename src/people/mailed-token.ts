// The token of an invitation as its mail carries it: followed by a proof that the inviter never sees,
// although they see the token. Whoever presents it reads that mailbox.
import { createHmac, timingSafeEqual } from "node:crypto";

/** `token`, a dot, and its proof; `secret` is the session secret. */
export const mailedToken = (secret: string, token: string): string => `${token}.${proofOf(secret, token)}`;

/** The token of either link, and whether it came by mail. */
export function readInvitationToken(secret: string, given: string): { token: string; mailed: boolean } {
  const [token = "", proof = ""] = given.split(".");
  const [told, wanted] = [Buffer.from(proof), Buffer.from(proofOf(secret, token))];
  return { token, mailed: told.length === wanted.length && timingSafeEqual(told, wanted) };
}

const proofOf = (secret: string, token: string): string =>
  createHmac("sha256", secret).update(`mailed ${token}`).digest("base64url");
