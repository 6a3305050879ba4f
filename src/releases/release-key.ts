// The Ed25519 keys of releases: generated once, kept as JWK files, named by the thumbprint of their public
// half (RFC 7638). Only the public half of a trust file is used.
import {
  calculateJwkThumbprint,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from "jose";
import { z } from "zod";
import { ReleaseError } from "./release-error.ts";

export const ALGORITHM = "EdDSA";

/** A signing key: `kid` is the thumbprint of its public half (RFC 7638). */
export interface ReleaseKey {
  kid: string;
  privateKey: CryptoKey;
}

export interface PublicReleaseKey {
  kid: string;
  kty: "OKP";
  crv: "Ed25519";
  x: string;
}

/** The key as given out: nothing in it is secret. */
export async function publicReleaseKey(kid: string, key: CryptoKey): Promise<PublicReleaseKey> {
  const { x = "" } = await exportJWK(key);
  return { kid, kty: "OKP", crv: "Ed25519", x };
}

/** Public keys by `kid`: only releases signed by one of them are accepted. */
export type TrustedKeys = ReadonlyMap<string, CryptoKey>;

const jwkSchema = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string().refine((x) => Buffer.from(x, "base64url").length === 32),
  kid: z.string().optional(),
});

/** Generates a key pair, as the two JWK files of `release keygen`. */
export async function generateReleaseKey(): Promise<{ kid: string; privateJwk: JWK; publicJwk: JWK }> {
  const pair = await generateKeyPair(ALGORITHM, { crv: "Ed25519", extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const named = { kid, alg: ALGORITHM, use: "sig" };
  return {
    kid,
    privateJwk: { ...(await exportJWK(pair.privateKey)), ...named },
    publicJwk: { ...publicJwk, ...named },
  };
}

/**
 * Reads the content of a private key file. Throws `ReleaseError("unknown_key")` for anything but an Ed25519
 * private JWK.
 */
export async function readReleaseKey(value: unknown): Promise<ReleaseKey> {
  const parsed = jwkSchema.extend({ d: z.string() }).safeParse(value);
  if (!parsed.success)
    throw new ReleaseError(
      "unknown_key",
      "This is not a private Ed25519 key (JWK with kty OKP, crv Ed25519, x and d).",
    );
  const { kid, ...jwk } = parsed.data;
  return { kid: kid ?? (await calculateJwkThumbprint(jwk)), privateKey: await importEd25519(jwk) };
}

/**
 * Reads the contents of public key files; private key files are accepted, too. Throws the same error, also
 * for two keys with the same name.
 */
export async function readTrustedKeys(values: readonly unknown[]): Promise<TrustedKeys> {
  const publicHalves = new Map<string, string>();
  const trusted = new Map<string, CryptoKey>();
  for (const { kid, x, key } of await Promise.all(values.map(readTrustedKey))) {
    if ((publicHalves.get(kid) ?? x) !== x)
      throw new ReleaseError(
        "unknown_key",
        `Two different keys are named ${JSON.stringify(kid)}: a release identifies its signer by that name. Give one of them another kid.`,
      );
    publicHalves.set(kid, x);
    trusted.set(kid, key);
  }
  return trusted;
}

async function readTrustedKey(value: unknown): Promise<{ kid: string; x: string; key: CryptoKey }> {
  const parsed = jwkSchema.safeParse(value);
  if (!parsed.success)
    throw new ReleaseError(
      "unknown_key",
      "This is not a public Ed25519 key (JWK with kty OKP, crv Ed25519 and x).",
    );
  const { kid, ...jwk } = parsed.data;
  return { kid: kid ?? (await calculateJwkThumbprint(jwk)), x: jwk.x, key: await importEd25519(jwk) };
}

async function importEd25519(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new Error("an Ed25519 key is not a byte string");
  return key;
}
