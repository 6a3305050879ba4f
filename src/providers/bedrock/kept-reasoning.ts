// Reasoning that must come back with the call that it led to (wire.md §8.4): signed blocks leave once, under
// `extra_content.bedrock` of the call behind them, and return there from whoever holds the conversation. What returns is rebuilt
// from the few fields that such a block has, and goes to models of its own kind only: a caller can hand in no other block.
import { isJsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";
import { type Placed, printPlaced, readPlaced } from "../thoughts-in-text.ts";

/** The same for every provider of this kind: what one signed, the others read. */
export const FAMILY = "bedrock";

export type ReasoningBlock = { text: string; signature: string } | { redacted: string };

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What goes out with a call; null where there is nothing to keep. `by`: whose reasoning it is. */
export const keptReasoning = (
  placed: readonly Placed<ReasoningBlock>[],
  by: string,
): Record<string, unknown> | null => (placed.length === 0 ? null : { by, reasoning: printPlaced(placed) });

/** What a call brought back. Null: nothing of `by`, or not all of it as it left: then none of it counts. */
export function returnedReasoning(
  extra: Record<string, unknown> | undefined,
  by: string,
): Placed<ReasoningBlock>[] | null {
  const own = extraOf(extra, FAMILY);
  return isJsonObject(own) && own["by"] === by ? readPlaced(own["reasoning"], reasoningBlockOf) : null;
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
