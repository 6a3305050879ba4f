// Thinking that must come back with the call that it led to (wire.md §8.4). Signed blocks are handed over once, under
// `extra_content.anthropic` of the call that follows them, and the client sends them back there. A returned block is
// rebuilt from its few fields, so a caller cannot pass in any other block, nor one in another's place.
import { isJsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";
import { type Placed, printPlaced, readPlaced } from "../thoughts-in-text.ts";

/** The same for every envelope: what one signed, the others accept. */
const FAMILY = "anthropic";

export type ThinkingBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

/** Returns what is handed over with a call; null if there is nothing to keep. */
export const keptContent = (placed: readonly Placed<ThinkingBlock>[]): Record<string, unknown> | null =>
  placed.length === 0 ? null : { [FAMILY]: { thinking: printPlaced(placed) } };

/**
 * Returns the blocks that a call brought back. Null if any of them is missing or differs from what was handed over:
 * then none counts.
 */
export function returnedBlocks(extra: Record<string, unknown> | undefined): Placed<ThinkingBlock>[] | null {
  const own = extraOf(extra, FAMILY);
  return isJsonObject(own) && Object.hasOwn(own, "thinking") ? readPlaced(own["thinking"], blockOf) : null;
}

/** Reads a thinking block as the upstream sends it, or as it comes back; null for anything else. */
export function blockOf(value: Record<string, unknown>): ThinkingBlock | null {
  const { type, thinking, signature, data } = value;
  if (type === "redacted_thinking") return isFilled(data) ? { type, data } : null;
  if (type !== "thinking" || typeof thinking !== "string" || !isFilled(signature)) return null;
  return { type, thinking, signature };
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
