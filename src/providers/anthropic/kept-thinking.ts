// Thinking that must come back with the call that it led to (wire.md §8.4): signed blocks leave once, under
// `extra_content.anthropic` of the call behind them, and return there from whoever holds the conversation. What returns is
// rebuilt from the few fields that such a block has: a caller can hand in no other block, and none in another's place.
import { isJsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";
import { type Placed, printPlaced, readPlaced } from "../thoughts-in-text.ts";

/** The same for every envelope: what one signed, the others read. */
const FAMILY = "anthropic";

export type ThinkingBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

/** What goes out with a call; null where there is nothing to keep. */
export const keptContent = (placed: readonly Placed<ThinkingBlock>[]): Record<string, unknown> | null =>
  placed.length === 0 ? null : { [FAMILY]: { thinking: printPlaced(placed) } };

/** What a call brought back. Null: nothing of ours, or not all of it as it left: then none of it counts. */
export function returnedBlocks(extra: Record<string, unknown> | undefined): Placed<ThinkingBlock>[] | null {
  const own = extraOf(extra, FAMILY);
  return isJsonObject(own) && Object.hasOwn(own, "thinking") ? readPlaced(own["thinking"], blockOf) : null;
}

/** A thinking block as the upstream says it, or as it comes back; null for what is none. */
export function blockOf(value: Record<string, unknown>): ThinkingBlock | null {
  const { type, thinking, signature, data } = value;
  if (type === "redacted_thinking") return isFilled(data) ? { type, data } : null;
  if (type !== "thinking" || typeof thinking !== "string" || !isFilled(signature)) return null;
  return { type, thinking, signature };
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
