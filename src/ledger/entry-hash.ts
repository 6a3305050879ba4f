// The hash chain of an organization's entries. Each hash covers the previous one and every figure of its
// row, so a row changed, removed or inserted by hand breaks the chain at that place (money.md §5, I5).
import { entryFigures } from "../domain/entry-figures.ts";
import type { EntryRow } from "./rows.ts";

/** The previous hash of a chain's first entry. */
export const CHAIN_START: Uint8Array = new Uint8Array(32);

/** Returns the SHA-256, 32 bytes, of the previous hash and the row's figures in fixed order. */
export function entryHash(entry: Omit<EntryRow, "hash">): Uint8Array {
  const hash = new Uint8Array(32);
  new Bun.SHA256().update(entry.prevHash).update(entryFigures(entry)).digest(hash);
  return hash;
}
