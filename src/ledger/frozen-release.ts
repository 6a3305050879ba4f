// The release that a request was frozen with, by its digest: an immutable row, which is what the request is priced by
// (hardening.md S33). Written by `registry/releases.ts`; the ledger reads it to settle and to verify.
import { nanoUsd } from "../domain/money.ts";
import type { Release } from "../domain/release.ts";
import { ask, type Query, textOf } from "../store/sql.ts";
import { readable } from "./unreadable.ts";

/** Null when no such release was ever published; throws `UnreadableRecord` for one that is damaged. */
export function* findRelease(digest: string): Query<Release | null> {
  const [row] = yield* ask("SELECT manifest FROM route_release WHERE digest = ?1", [digest]);
  return row === undefined
    ? null
    : readable(`release ${digest}`, () => parseRelease(textOf(row["manifest"])));
}

const RATES = ["input", "cachedInput", "output", "requestMinimum"] as const;

/** JSON with the rates as decimal text of whole nano-USD: a JSON number would round them. */
export function printRelease(release: Release): string {
  const price = Object.fromEntries(RATES.map((rate) => [rate, release.price[rate].toString()]));
  return JSON.stringify({ ...release, price });
}

export function parseRelease(manifest: string): Release {
  const stored = JSON.parse(manifest) as Omit<Release, "price"> & {
    price: Record<(typeof RATES)[number], string>;
  };
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
