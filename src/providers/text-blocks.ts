// The texts of a message as blocks of a vendor that has a block for each: marks stand at their blocks, and none is blank,
// which such vendors refuse (wire.md §8.2, §8.4).
import type { Message } from "../domain/chat-request.ts";
import { type Markable, markOf } from "./anthropic/cache-marks.ts";

/** As the vendor has it; `mark` is spread into it. */
type BlockOf<Block> = (text: string, mark: Markable) => Block;

const UNMARKED: Markable = {};

/** What was written and what was refused, in their order; images and files are not among them. */
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
