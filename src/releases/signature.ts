// Signed releases: compact JWS, EdDSA only, typ and kid checked, trusted keys only (interfaces.md §4, hardening
// S33). Verification checks the header first, so that no key is used on anything but a release.
import { DAY_MS } from "../domain/durations.ts";
import { printTime } from "../domain/print.ts";
import { type CryptoKey, decodeJwt, decodeProtectedHeader, errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { RELEASE_TYPE } from "../domain/document-types.ts";
import type { Manifest } from "../domain/release.ts";
import { parseManifest } from "./manifest.ts";
import { ReleaseError } from "./release-error.ts";
import { ALGORITHM, type ReleaseKey, type TrustedKeys } from "./release-key.ts";

const ISSUER = "tollgate";
/** A signer's clock may be this far ahead of ours. */
const CLOCK_SKEW_MS = 300_000;
/** A longer lifetime is taken for a forgotten key. */
const LIFETIME_MAX_MS = 400 * DAY_MS;

/** The content of a verified JWS. */
export interface ReleaseClaims {
  manifest: Manifest;
  issuedAtMs: number;
  expiresAtMs: number;
}

/** Signs a manifest. The JWS expires `expiresInMs` after `nowMs` (whole seconds). */
export function signRelease(
  manifest: Manifest,
  { kid, privateKey }: ReleaseKey,
  { expiresInMs, nowMs = Date.now() }: { expiresInMs: number; nowMs?: number },
): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return new SignJWT({ ver: manifest.version, release: signed(manifest) })
    .setProtectedHeader({ alg: ALGORITHM, typ: RELEASE_TYPE, kid })
    .setIssuer(ISSUER)
    .setSubject(manifest.route)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + Math.floor(expiresInMs / 1000))
    .sign(privateKey);
}

/** Omits newer switches that are off: earlier versions reject names that they do not know. */
function signed(manifest: Manifest): object {
  const { files, embeddings, ...known } = manifest.capabilities;
  return {
    ...manifest,
    capabilities: { ...known, ...(files && { files }), ...(embeddings && { embeddings }) },
  };
}

/**
 * Verifies signature and claims of a release at `nowMs`. `published`: the issue time was checked at
 * publication, and a wrong clock today must not close a route; an expired release is still the newest of its
 * route, and makes it stale. Throws `ReleaseError`.
 */
export async function verifyRelease(
  jws: string,
  trusted: TrustedKeys,
  { nowMs = Date.now(), published = false }: { nowMs?: number; published?: boolean } = {},
): Promise<{ claims: ReleaseClaims; kid: string }> {
  const kid = headerOf(jws);
  const key = trusted.get(kid);
  if (key === undefined)
    throw new ReleaseError(
      "unknown_key",
      `The release is signed by ${printable(kid)}, which is not a trusted key.`,
    );
  const claims = checkClaims(await verifiedPayload(jws, key));
  if (published) return { claims, kid };
  if (claims.issuedAtMs > nowMs + CLOCK_SKEW_MS)
    throw new ReleaseError("claims", "The release was issued in the future.", "iat");
  if (claims.expiresAtMs <= nowMs)
    throw new ReleaseError("expired", `The release expired at ${printTime(claims.expiresAtMs)}.`);
  return { claims, kid };
}

/**
 * Reads a release without checking its signature, only to show what a damaged one was: nothing may be served
 * or priced by it. Throws `ReleaseError`.
 */
export function unverifiedRelease(jws: string): { claims: ReleaseClaims; kid: string } {
  const kid = headerOf(jws);
  return { claims: checkClaims(decodedPayload(jws)), kid };
}

function decodedPayload(jws: string): unknown {
  try {
    return decodeJwt(jws);
  } catch {
    throw new ReleaseError("malformed", "This is not a signed release (compact JWS).");
  }
}

function headerOf(jws: string): string {
  const header = decodedHeader(jws);
  if (header.alg !== ALGORITHM)
    throw new ReleaseError("algorithm", `The release must be signed with ${ALGORITHM}.`);
  if (header.typ !== RELEASE_TYPE)
    throw new ReleaseError("type", `The header's typ must be ${RELEASE_TYPE}.`);
  if (typeof header.kid !== "string") throw new ReleaseError("unknown_key", "The header names no key (kid).");
  return header.kid;
}

function decodedHeader(jws: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(jws);
  } catch {
    throw new ReleaseError("malformed", "This is not a signed release (compact JWS).");
  }
}

/**
 * `checkClaims` checks the time claims, because it knows what an expired release may be used for; hence the
 * epoch as the current time.
 */
async function verifiedPayload(jws: string, key: CryptoKey): Promise<unknown> {
  try {
    const options = { algorithms: [ALGORITHM], typ: RELEASE_TYPE, issuer: ISSUER, currentDate: new Date(0) };
    return (await jwtVerify(jws, key, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed)
      throw new ReleaseError("signature", "The signature does not match the release.");
    if (error instanceof errors.JWTClaimValidationFailed)
      throw new ReleaseError("claims", `The claim ${error.claim} is missing or wrong.`, error.claim);
    throw new ReleaseError("malformed", "This is not a signed release (compact JWS).");
  }
}

const seconds = z.int().min(0).max(99_999_999_999);
const claimsSchema = z.object({
  sub: z.string(),
  ver: z.int(),
  iat: seconds,
  exp: seconds,
  release: z.unknown(),
});

function checkClaims(payload: unknown): ReleaseClaims {
  const parsed = claimsSchema.safeParse(payload);
  if (!parsed.success) {
    const claim = String(parsed.error.issues[0]?.path[0] ?? "release");
    throw new ReleaseError("claims", `The claim ${claim} is missing or wrong.`, claim);
  }
  const { sub, ver, iat, exp, release } = parsed.data;
  const manifest = parseManifest(release);
  const wrong = contradictionOf({ sub, ver, iat, exp, manifest });
  if (wrong !== null) throw new ReleaseError("claims", wrong.message, wrong.claim);
  return { manifest, issuedAtMs: iat * 1000, expiresAtMs: exp * 1000 };
}

function contradictionOf(said: {
  sub: string;
  ver: number;
  iat: number;
  exp: number;
  manifest: Manifest;
}): { claim: string; message: string } | null {
  const { sub, ver, iat, exp, manifest } = said;
  if (sub !== manifest.route)
    return { claim: "sub", message: "The claim sub is not the route of the manifest." };
  if (ver !== manifest.version)
    return { claim: "ver", message: "The claim ver is not the version of the manifest." };
  if (exp <= iat) return { claim: "exp", message: "The release expires before it was issued." };
  if ((exp - iat) * 1000 > LIFETIME_MAX_MS)
    return { claim: "exp", message: "The release is valid for more than 400 days." };
  return null;
}

/** Header text is untrusted until the signature is checked. */
const printable = (text: string): string => JSON.stringify(text.slice(0, 64));
