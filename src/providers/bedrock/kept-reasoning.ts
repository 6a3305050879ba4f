// Reasoning that must come back with the call that it led to (wire.md §8.4): signed blocks leave once, under
// `extra_content.bedrock` of the call behind them, and return there from whoever holds the conversation. What returns is rebuilt
// from the few fields that such a block has, and goes to models of its own kind only: a caller can hand in no other block.
import { isObject } from "../http/json.ts";

/** The same for every provider of this kind: what one signed, the others read. */
export const FAMILY = "bedrock";

export type ReasoningBlock = { text: string; signature: string } | { redacted: string };

/** A block, and how much of the message's text stood before it. */
export interface PlacedReasoning {
  block: ReasoningBlock;
  after: number;
}

const BLOCKS_MAX = 256;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * What goes out with a call; null where there is nothing to keep. `by`: whose reasoning it is. Clients add up whatever in a
 * delta is a number, and refuse lists without an index (wire.md §3.1).
 */
export const keptReasoning = (
  placed: readonly PlacedReasoning[],
  by: string,
): Record<string, unknown> | null =>
  placed.length === 0
    ? null
    : {
        by,
        reasoning: placed.map(({ block, after }, index) => ({
          index,
          ...block,
          ...(after > 0 && { after: String(after) }),
        })),
      };

/** What a call brought back. Null: nothing of `by`, or not all of it as it left: then none of it counts. */
export function returnedReasoning(
  extra: Record<string, unknown> | undefined,
  by: string,
): PlacedReasoning[] | null {
  const own = extra !== undefined && Object.hasOwn(extra, FAMILY) ? extra[FAMILY] : undefined;
  if (!isObject(own) || own["by"] !== by) return null;
  const list = own["reasoning"];
  if (!Array.isArray(list) || list.length === 0 || list.length > BLOCKS_MAX) return null;
  const placed = list.map(placedOf);
  return placed.every((one) => one !== null) ? placed : null;
}

function placedOf(value: unknown): PlacedReasoning | null {
  if (!isObject(value)) return null;
  const { after = "0" } = value;
  const block = reasoningBlockOf(value);
  return block === null || typeof after !== "string" || !/^\d{1,9}$/.test(after)
    ? null
    : { block, after: Number(after) };
}

/** A block with a proof in it; null for reasoning that nobody signed. */
export function reasoningBlockOf({
  text,
  signature,
  redacted,
}: Record<string, unknown>): ReasoningBlock | null {
  if (typeof redacted === "string" && BASE64.test(redacted)) return { redacted };
  if (typeof text !== "string" || typeof signature !== "string" || signature === "") return null;
  return { text, signature };
}
