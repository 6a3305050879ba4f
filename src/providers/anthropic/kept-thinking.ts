// Thinking that must come back with the call that it led to (wire.md §8.4): signed blocks leave once, under
// `extra_content.anthropic` of the call behind them, and return there from whoever holds the conversation. What returns is
// rebuilt from the few fields that such a block has: a caller can hand in no other block, and none in another's place.
import { isObject } from "../http/json.ts";

/** The same for every envelope: what one signed, the others read. */
const FAMILY = "anthropic";

export type ThinkingBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

/** A block, and how much of the message's text stood before it. */
export interface PlacedBlock {
  block: ThinkingBlock;
  after: number;
}

const BLOCKS_MAX = 256;

/** What goes out with a call; null where there is nothing to keep. Clients add up whatever in a delta is a number (wire.md §3.1). */
export const keptContent = (placed: readonly PlacedBlock[]): Record<string, unknown> | null =>
  placed.length === 0
    ? null
    : {
        [FAMILY]: {
          thinking: placed.map(({ block, after }, index) => ({
            index,
            ...block,
            ...(after > 0 && { after: String(after) }),
          })),
        },
      };

/** What a call brought back. Null: nothing of ours, or not all of it as it left: then none of it counts. */
export function returnedBlocks(extra: Record<string, unknown> | undefined): PlacedBlock[] | null {
  const own = extra !== undefined && Object.hasOwn(extra, FAMILY) ? extra[FAMILY] : undefined;
  const list = isObject(own) && Object.hasOwn(own, "thinking") ? own["thinking"] : undefined;
  if (!Array.isArray(list) || list.length === 0 || list.length > BLOCKS_MAX) return null;
  const placed = list.map(placedOf);
  return placed.every((one) => one !== null) ? placed : null;
}

function placedOf(value: unknown): PlacedBlock | null {
  if (!isObject(value)) return null;
  const { after = "0" } = value;
  const block = blockOf(value);
  return block === null || typeof after !== "string" || !/^\d{1,9}$/.test(after)
    ? null
    : { block, after: Number(after) };
}

/** A thinking block as the upstream says it, or as it comes back; null for what is none. */
export function blockOf(value: Record<string, unknown>): ThinkingBlock | null {
  const { type, thinking, signature, data } = value;
  if (type === "redacted_thinking") return isFilled(data) ? { type, data } : null;
  if (type !== "thinking" || typeof thinking !== "string" || !isFilled(signature)) return null;
  return { type, thinking, signature };
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
