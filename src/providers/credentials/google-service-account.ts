// OAuth with a Google service account (RFC 7523): a signed claim is exchanged for an access token.
import { SignJWT } from "jose";
import { OAuthToken } from "./oauth.ts";
import type { ServiceAccountKey } from "./service-account-key.ts";

/** Accepted by every Google Cloud API; the account's roles decide what it may do there. */
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const CLAIM_SECONDS = 3600;

/** `renewalMs` is the timeout for a token; absent = that of any other credentials. */
export class GoogleServiceAccount extends OAuthToken {
  constructor(key: ServiceAccountKey, renewalMs?: number) {
    super(async () => {
      const assertion = await claimOf(key);
      return { url: key.tokenUri, form: { grant_type: GRANT, assertion }, secrets: [assertion] };
    }, renewalMs);
  }
}

async function claimOf({ email, keyId, tokenUri, privateKey }: ServiceAccountKey): Promise<string> {
  const nowS = Math.floor(Date.now() / 1000);
  return await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId !== null && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(tokenUri)
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + CLAIM_SECONDS)
    .sign(privateKey);
}
