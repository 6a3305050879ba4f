// What a model thought between its words, put back where it stood: vendors that sign thoughts compare their order. Where that
// was is a client's word by then.

/** A thought, and how many UTF-16 units of its turn's text stood in front of it. */
export interface Placed<Block> {
  block: Block;
  after: number;
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
