// The token of an invitation as its mail carries it: with a proof behind it that whoever invites never sees, though they are
// shown the token. Whoever comes with it reads that mailbox.
import { createHmac, timingSafeEqual } from "node:crypto";

/** `token` with its proof behind a dot; `secret` is that of the sessions. */
export const mailedToken = (secret: string, token: string): string => `${token}.${proofOf(secret, token)}`;

/** The token of either link, and whether it came by mail. */
export function readInvitationToken(secret: string, given: string): { token: string; mailed: boolean } {
  const [token = "", proof = ""] = given.split(".");
  const [told, wanted] = [Buffer.from(proof), Buffer.from(proofOf(secret, token))];
  return { token, mailed: told.length === wanted.length && timingSafeEqual(told, wanted) };
}

const proofOf = (secret: string, token: string): string =>
  createHmac("sha256", secret).update(`mailed ${token}`).digest("base64url");
