// What a model thought between its words: it leaves with the place where it stood, and is put back there, since vendors that sign
// thoughts compare their order (wire.md §8.4). Where that was is a client's word by then.
import { isJsonObject } from "../domain/read-value.ts";

/** A thought, and how many UTF-16 units of its turn's text stood in front of it. */
export interface Placed<Block> {
  block: Block;
  after: number;
}

const PLACED_MAX = 256;

/** As they leave in a delta: clients add up whatever is a number there, and refuse lists without an index (wire.md §3.1). */
export const printPlaced = (placed: readonly Placed<object>[]): Record<string, unknown>[] =>
  placed.map(({ block, after }, index) => ({ index, ...block, ...(after > 0 && { after: String(after) }) }));

/** As they came back; `blockOf` says null for what is no block. Null: not all of them as they left, so that none counts. */
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
 * Text and thoughts in the order in which they were said. Places beyond the text are its end, one inside a surrogate pair is in
 * front of it, and one that goes back is where the last one was; blank text stands in no block of its own.
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
