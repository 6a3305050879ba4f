// The texts of a message as blocks, for vendors with one block per text: marks stay with their blocks, and none is
// blank, since such vendors reject blank blocks (wire.md §8.2, §8.4).
import type { Message } from "../domain/chat-request.ts";
import { type Markable, markOf } from "./anthropic/cache-marks.ts";

/** Makes a block in the vendor's form; `mark` is spread into it. */
type BlockOf<Block> = (text: string, mark: Markable) => Block;

const UNMARKED: Markable = {};

/** Returns the texts and refusals as blocks, in order; images and files are skipped. */
export function textBlocksOf<Block>(content: Message["content"], blockOf: BlockOf<Block>): Block[] {
  if (content === null) return [];
  if (typeof content === "string") return spoken(content, UNMARKED, blockOf);
  return content.flatMap((part) =>
    part.type === "text"
      ? spoken(part.text, markOf(part), blockOf)
      : part.type === "refusal"
        ? spoken(part.refusal, UNMARKED, blockOf)
        : [],
  );
}

const spoken = <Block>(text: string, mark: Markable, blockOf: BlockOf<Block>): Block[] =>
  text.trim() === "" ? [] : [blockOf(text, mark)];
