// What a model thought between its words. A thought is sent to the client with its place in the text, and is put back
// there, since vendors that sign thoughts check their order (wire.md §8.4). The place that comes back is only a
// client's word.
import { isJsonObject } from "../domain/read-value.ts";

/** A thought, and how many UTF-16 units of its turn's text precede it. */
export interface Placed<Block> {
  block: Block;
  after: number;
}

const PLACED_MAX = 256;

/** Prints thoughts for a delta. Clients add up any number in there, and reject lists without an index (wire.md §3.1). */
export const printPlaced = (placed: readonly Placed<object>[]): Record<string, unknown>[] =>
  placed.map(({ block, after }, index) => ({ index, ...block, ...(after > 0 && { after: String(after) }) }));

/**
 * Reads the thoughts that came back; `blockOf` returns null for a malformed block. Returns null unless all of them
 * are well formed: then none counts.
 */
export function readPlaced<Block>(
  list: unknown,
  blockOf: (value: Record<string, unknown>) => Block | null,
): Placed<Block>[] | null {
  if (!Array.isArray(list) || list.length === 0 || list.length > PLACED_MAX) return null;
  const placed: Placed<Block>[] = [];
  for (const value of list) {
    const { after = "0", ...own } = isJsonObject(value) ? value : {};
    const block = blockOf(own);
    if (block === null || typeof after !== "string" || !/^\d{1,9}$/.test(after)) return null;
    placed.push({ block, after: Number(after) });
  }
  return placed;
}

/**
 * Returns text and thoughts in the order in which they were said. A place beyond the text counts as its end, one inside
 * a surrogate pair as the place before the pair, and one before the previous place as that previous place. Blank text
 * gets no block of its own.
 */
export function withThoughts<Block>(
  text: string,
  placed: readonly Placed<Block>[],
  textBlock: (text: string) => Block,
): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  for (const { block, after } of placed) {
    const piece = text.slice(at, outsidePairs(text, Math.max(at, after)));
    if (piece.trim() !== "") {
      blocks.push(textBlock(piece));
      at += piece.length;
    }
    blocks.push(block);
  }
  const rest = text.slice(at);
  if (rest.trim() !== "") blocks.push(textBlock(rest));
  return blocks;
}

const outsidePairs = (text: string, at: number): number =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1)) ? at - 1 : at;
