// The release that a request was frozen with, by its digest: an immutable row, which is what the request is priced by
// (hardening.md S33). Written by `registry/releases.ts`; the ledger reads it to settle and to verify.
import { decodeProtectedHeader } from "jose/decode/protected_header";
import { decodeJwt } from "jose/jwt/decode";
import { freezeRelease } from "../domain/freeze-release.ts";
import { nanoUsd } from "../domain/money.ts";
import { hasClasses, exactPrice } from "../domain/price.ts";
import type { Manifest, Release } from "../domain/release.ts";
import { isJsonObject } from "../domain/read-value.ts";
import { ask, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { readable, UnreadableRecord } from "./unreadable.ts";

/** Null when no such release was ever published; throws `UnreadableRecord` for one that is damaged. */
export function* findRelease(digest: string): Query<Release | null> {
  const [row] = yield* ask("SELECT manifest, jws FROM route_release WHERE digest = ?1", [digest]);
  if (row === undefined) return null;
  const release = storedRelease(`release ${digest}`, row);
  if (release.digest !== digest)
    throw new UnreadableRecord(`release ${digest}`, "it stands under another digest");
  return release;
}

/**
 * The release of a row with its `manifest` and `jws`; `UnreadableRecord` for one that is not what was signed. Its digest is
 * that of the JWS, whose signature was verified before it was stored: the key may have lost its trust since, and what was
 * priced by it stays priced by it.
 */
export const storedRelease = (what: string, { manifest, jws }: SqlRow): Release =>
  readable(what, () => {
    const [stored, signed]: unknown[] = [
      JSON.parse(textOf(manifest)),
      JSON.parse(printFrozenRelease(signedRelease(textOf(jws)))),
    ];
    if (!agrees(stored, signed)) throw new Error("it is not what was signed");
    return parseRelease(textOf(manifest));
  });

function signedRelease(jws: string): Release {
  const { release, iat = 0, exp = 0 } = decodeJwt<{ release: Manifest }>(jws);
  const { kid = "" } = decodeProtectedHeader(jws);
  const digest = new Bun.CryptoHasher("sha256").update(jws).digest("hex");
  return freezeRelease(release, { digest, signedBy: kid, issuedAtMs: iat * 1000, expiresAtMs: exp * 1000 });
}

/** Whether all that was signed is stored. What it leaves out, because its field came later, is as it was frozen. */
const agrees = (stored: unknown, signed: unknown): boolean =>
  isJsonObject(stored) && isJsonObject(signed)
    ? Object.entries(signed).every(([name, value]) => agrees(stored[name], value))
    : Bun.deepEquals(stored ?? null, signed ?? null);

const RATES = ["input", "cachedInput", "output", "requestMinimum"] as const;

/**
 * JSON with the rates as decimal text of whole nano-USD: a JSON number would round them. Those of a release with classes are left
 * out, for they follow from what is published: a program that knows no classes then refuses it, instead of pricing half of it.
 */
export function printFrozenRelease(release: Release): string {
  if (hasClasses(release.publishedPrice)) return JSON.stringify({ ...release, price: null });
  const price = Object.fromEntries(RATES.map((rate) => [rate, release.price[rate].toString()]));
  return JSON.stringify({ ...release, price });
}

function parseRelease(manifest: string): Release {
  const stored = JSON.parse(manifest) as Omit<Release, "price"> & {
    price: Record<(typeof RATES)[number], string> | null;
  };
  if (stored.price === null) return { ...stored, price: exactPrice(stored.publishedPrice) };
  const { input, cachedInput, output, requestMinimum } = stored.price;
  return {
    ...stored,
    price: {
      input: nanoUsd(BigInt(input)),
      cachedInput: nanoUsd(BigInt(cachedInput)),
      output: nanoUsd(BigInt(output)),
      requestMinimum: nanoUsd(BigInt(requestMinimum)),
    },
  };
}
