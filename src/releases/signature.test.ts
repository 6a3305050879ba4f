import { expect, test } from "bun:test";
import { decodeJwt, SignJWT, importJWK } from "jose";
import type { Manifest } from "../domain/release.ts";
import { parseManifest } from "./manifest.ts";
import { ReleaseError } from "./release-error.ts";
import { generateReleaseKey, readReleaseKey, readTrustedKeys } from "./release-key.ts";
import { signRelease, verifyRelease } from "./signature.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const DAY_MS = 86_400_000;
const MANIFEST = parseManifest({
  model: "base-preview-v1",
  provider: "acme",
  upstream_model: "acme-base-1",
  region: "us-east",
  version: 3,
  tier: "standard",
  context_window: 4096,
  max_output_tokens: 1024,
  default_output_tokens: 256,
  pricing: { currency: "USD", input_per_million: "0.50", output_per_million: "1.50", request_minimum: "0" },
});
const pair = await generateReleaseKey();
const key = await readReleaseKey(pair.privateJwk);
const trusted = await readTrustedKeys([pair.publicJwk]);

const sign = (manifest: Manifest = MANIFEST, expiresInMs = 30 * DAY_MS): Promise<string> =>
  signRelease(manifest, key, { expiresInMs, nowMs: NOW_MS });

/** Signs arbitrary forged claims and headers with our own key. */
const forge = (claims: object, header: object = {}): Promise<string> =>
  new SignJWT({
    iss: "tollgate",
    sub: MANIFEST.route,
    ver: MANIFEST.version,
    iat: NOW_MS / 1000,
    exp: NOW_MS / 1000 + 3600,
    release: MANIFEST,
    ...claims,
  })
    .setProtectedHeader({ alg: "EdDSA", typ: "gw-release+jwt", kid: key.kid, ...header })
    .sign(key.privateKey);

async function reasonOf(jws: string, keys = trusted, nowMs = NOW_MS): Promise<string> {
  const outcome = await verifyRelease(jws, keys, { nowMs }).catch((error: unknown) => error);
  return outcome instanceof ReleaseError ? outcome.reason : "accepted";
}
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a signed release is read back whole, with its times and its signer", async () => {
  const { claims, kid } = await verifyRelease(await sign(), trusted, { nowMs: NOW_MS });
  expect(claims).toEqual({ manifest: MANIFEST, issuedAtMs: NOW_MS, expiresAtMs: NOW_MS + 30 * DAY_MS });
  expect(kid).toBe(pair.kid);
});

test("an unsigned release is refused, with and without a signature part", async () => {
  const [, payload = "", signature = ""] = (await sign()).split(".");
  const none = encode({ alg: "none", typ: "gw-release+jwt", kid: key.kid });
  expect(await reasonOf(`${none}.${payload}.`)).toBe("algorithm");
  expect(await reasonOf(`${none}.${payload}.${signature}`)).toBe("algorithm");
});

test("the public key is not accepted as an HMAC secret", async () => {
  const secret = Buffer.from(pair.publicJwk.x ?? "", "base64url");
  const jws = await new SignJWT({ release: MANIFEST })
    .setProtectedHeader({ alg: "HS256", typ: "gw-release+jwt", kid: key.kid })
    .sign(secret);
  expect(await reasonOf(jws)).toBe("algorithm");
});

test("an untrusted key is refused, even if it is sent in the header", async () => {
  const stranger = await generateReleaseKey();
  const jws = await signRelease(MANIFEST, await readReleaseKey(stranger.privateJwk), {
    expiresInMs: DAY_MS,
    nowMs: NOW_MS,
  });
  expect(await reasonOf(jws)).toBe("unknown_key");
  expect(await reasonOf(await sign(), new Map())).toBe("unknown_key");
  const strangersKey = await importJWK(stranger.privateJwk, "EdDSA");
  const borrowed = await new SignJWT({ release: MANIFEST })
    .setProtectedHeader({ alg: "EdDSA", typ: "gw-release+jwt", kid: key.kid, jwk: stranger.publicJwk })
    .sign(strangersKey);
  expect(await reasonOf(borrowed)).toBe("signature");
});

test("every truncation of a release and every swap of its parts is refused", async () => {
  const jws = await sign();
  for (let length = 0; length < jws.length; length += 7)
    expect(await reasonOf(jws.slice(0, length))).not.toBe("accepted");
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const [, otherPayload = ""] = (await sign({ ...MANIFEST, version: 4 })).split(".");
  expect(await reasonOf(`${header}.${otherPayload}.${signature}`)).toBe("signature");
  expect(await reasonOf(`${payload}.${header}.${signature}`)).not.toBe("accepted");
  for (const garbage of ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", "{}", "\u0000.\u0000.\u0000"])
    expect(await reasonOf(garbage)).toBe("malformed");
});

test("another typ and unknown critical extensions are refused", async () => {
  expect(await reasonOf(await forge({}, { typ: "JWT" }))).toBe("type");
  expect(await reasonOf(await forge({}, { typ: undefined }))).toBe("type");
  expect(await reasonOf(await forge({}, { kid: undefined }))).toBe("unknown_key");
  const header = encode({ alg: "EdDSA", typ: "gw-release+jwt", kid: key.kid, crit: ["x"], x: 1 });
  const [, payload = "", signature = ""] = (await sign()).split(".");
  expect(await reasonOf(`${header}.${payload}.${signature}`)).toBe("malformed");
});

test("an expired release is refused at publication, and recognized as expired later", async () => {
  const jws = await sign(MANIFEST, 60_000);
  expect(await reasonOf(jws, trusted, NOW_MS + 59_999)).toBe("accepted");
  expect(await reasonOf(jws, trusted, NOW_MS + 60_000)).toBe("expired");
  const { claims } = await verifyRelease(jws, trusted, { nowMs: NOW_MS + DAY_MS, published: true });
  expect(claims.expiresAtMs).toBe(NOW_MS + 60_000);
});

test("a release issued in the future is refused at publication; a wrong clock later closes nothing", async () => {
  const jws = await sign(MANIFEST);
  expect(await reasonOf(jws, trusted, NOW_MS - 300_000)).toBe("accepted");
  expect(await reasonOf(jws, trusted, NOW_MS - 301_000)).toBe("claims");
  const { claims } = await verifyRelease(jws, trusted, { nowMs: NOW_MS - DAY_MS, published: true });
  expect(claims.issuedAtMs).toBe(NOW_MS);
});

test("claims that are absent, absurd, or contradict the manifest are refused", async () => {
  const at = NOW_MS / 1000;
  for (const claims of [
    { iss: "somebody" },
    { iss: undefined },
    { sub: "another@route/x" },
    { sub: undefined },
    { ver: 4 },
    { ver: "3" },
    { iat: undefined },
    { exp: undefined },
    { iat: at + 301 },
    { iat: -1 },
    { exp: at },
    { exp: at + 401 * 86_400 },
    { exp: 1e300 },
    { exp: at + 0.5 },
  ])
    expect([claims, await reasonOf(await forge(claims))]).toEqual([claims, "claims"]);
});

test("a well-signed release whose manifest breaks a rule is refused with the path", async () => {
  const jws = await forge({ release: { ...MANIFEST, context_window: 0 } });
  const error = await verifyRelease(jws, trusted, { nowMs: NOW_MS }).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ reason: "manifest", path: "context_window" });
  expect(await reasonOf(await forge({ release: undefined }))).toBe("claims");
});

test("key files: the private half signs, the public half is enough to trust, other keys are refused", async () => {
  expect(pair.privateJwk).toMatchObject({ kty: "OKP", crv: "Ed25519", kid: pair.kid });
  expect(pair.publicJwk).not.toHaveProperty("d");
  expect([...(await readTrustedKeys([pair.privateJwk])).keys()]).toEqual([pair.kid]);
  const odd = ["AAAA", "!!", `${pair.publicJwk.x}A`].map((x) => ({ ...pair.publicJwk, x }));
  for (const wrong of [null, {}, { kty: "oct", k: "c2VjcmV0" }, { ...pair.publicJwk, crv: "X25519" }, ...odd])
    expect(await readTrustedKeys([wrong]).catch((error: unknown) => error)).toBeInstanceOf(ReleaseError);
  expect(await readReleaseKey(pair.publicJwk).catch((error: unknown) => error)).toBeInstanceOf(ReleaseError);
});

test("two trusted keys of one name are refused, as one would pass for both; the same key twice counts once", async () => {
  const other = await generateReleaseKey();
  const asked = readTrustedKeys([pair.publicJwk, { ...other.publicJwk, kid: pair.kid }]);
  expect(await asked.catch((error: unknown) => error)).toMatchObject({
    reason: "unknown_key",
    message: expect.stringContaining(`named "${pair.kid}"`) as string,
  });
  expect([...(await readTrustedKeys([pair.publicJwk, pair.privateJwk])).keys()]).toEqual([pair.kid]);
});

test("a release without files or embeddings omits them, so programs that do not know them read it like any other", async () => {
  const { release } = decodeJwt<{ release: Manifest }>(await sign());
  const { files: _, embeddings: __, ...before } = MANIFEST.capabilities;
  expect(release).toEqual({ ...MANIFEST, capabilities: before as Manifest["capabilities"] });
  const { max_output_tokens: _most, default_output_tokens: _default, reasoning: _modes, ...rest } = MANIFEST;
  for (const offered of [
    parseManifest({
      ...MANIFEST,
      capabilities: { files: true },
      file_tokens_max: 2000,
      file_pages_max: 10,
    }),
    parseManifest({
      ...rest,
      capabilities: { embeddings: true },
      pricing: { ...MANIFEST.pricing, output_per_million: "0" },
    }),
  ]) {
    const { claims } = await verifyRelease(await sign(offered), trusted, { nowMs: NOW_MS });
    expect(claims.manifest).toEqual(offered);
  }
});
