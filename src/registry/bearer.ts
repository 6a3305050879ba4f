// From the Authorization header to its one token (hardening §2.3). Two headers arrive joined by a comma, so a comma
// anywhere means that nothing was said clearly, and nothing is accepted.

const BEARER = /^bearer +[^\s,]+$/i;

/** The token of `Authorization: Bearer <token>`; null when the header is absent, of another scheme, or not one token. */
export function bearerOf(authorization: string | null): string | null {
  if (authorization === null || !BEARER.test(authorization)) return null;
  return authorization.slice(authorization.lastIndexOf(" ") + 1);
}
