// The release frozen for a request, found by its digest: an immutable row that prices the request
// (hardening.md S33). `registry/releases.ts` writes it; the ledger reads it to settle and to verify.
import { decodeProtectedHeader } from "jose/decode/protected_header";
import { decodeJwt } from "jose/jwt/decode";
import { freezeRelease } from "../domain/freeze-release.ts";
import { nanoUsd } from "../domain/money.ts";
import { hasClasses, exactPrice } from "../domain/price.ts";
import type { Manifest, Release } from "../domain/release.ts";
import { isJsonObject } from "../domain/read-value.ts";
import { ask, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { readable, UnreadableRecord } from "./unreadable.ts";

/** Returns null if no such release was ever published; throws `UnreadableRecord` for a damaged one. */
export function* findRelease(digest: string): Query<Release | null> {
  const [row] = yield* ask("SELECT manifest, jws FROM route_release WHERE digest = ?1", [digest]);
  if (row === undefined) return null;
  const release = storedRelease(`release ${digest}`, row);
  if (release.digest !== digest)
    throw new UnreadableRecord(`release ${digest}`, "it is stored under another digest");
  return release;
}

/**
 * Parses the release from a row's `manifest` and `jws`; throws `UnreadableRecord` if it is not what
 * was signed. Its digest is that of the JWS, whose signature was verified before it was stored. The
 * key may have lost its trust since; requests priced by the release keep its price.
 */
export const storedRelease = (what: string, { manifest, jws }: SqlRow): Release =>
  readable(what, () => {
    const [stored, signed]: unknown[] = [
      JSON.parse(textOf(manifest)),
      JSON.parse(printFrozenRelease(signedRelease(textOf(jws)))),
    ];
    if (!agrees(stored, signed)) throw new Error("it differs from what was signed");
    return parseRelease(textOf(manifest));
  });

function signedRelease(jws: string): Release {
  const { release, iat = 0, exp = 0 } = decodeJwt<{ release: Manifest }>(jws);
  const { kid = "" } = decodeProtectedHeader(jws);
  const digest = new Bun.CryptoHasher("sha256").update(jws).digest("hex");
  return freezeRelease(release, { digest, signedBy: kid, issuedAtMs: iat * 1000, expiresAtMs: exp * 1000 });
}

/** True if everything signed is stored. A field that was added later and is not signed stays as it was frozen. */
const agrees = (stored: unknown, signed: unknown): boolean =>
  isJsonObject(stored) && isJsonObject(signed)
    ? Object.entries(signed).every(([name, value]) => agrees(stored[name], value))
    : Bun.deepEquals(stored ?? null, signed ?? null);

const RATES = ["input", "cachedInput", "output", "requestMinimum"] as const;

/**
 * Prints rates as decimal text of whole nano-USD, which a JSON number would round. A release with classes gets no rates,
 * as they follow from what is published: a program without classes then refuses it instead of pricing half of it.
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
