// Extracts the token of the Authorization header (hardening §2.3). Two headers arrive joined by a comma, so a
// comma anywhere makes the header ambiguous, and it is rejected.

const BEARER = /^bearer +[^\s,]+$/i;

/**
 * The token of `Authorization: Bearer <token>`; null if the header is absent, has another scheme, or is not
 * one token.
 */
export function bearerOf(authorization: string | null): string | null {
  if (authorization === null || !BEARER.test(authorization)) return null;
  return authorization.slice(authorization.lastIndexOf(" ") + 1);
}
