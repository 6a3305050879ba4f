// Reasoning that must come back with the call that it led to (wire.md §8.4). Signed blocks are handed over once,
// under `extra_content.bedrock` of the call that follows them, and the client sends them back there. A returned block is
// rebuilt from its few fields, and is sent to models of its own kind only, so a caller cannot pass in any other
// block.
import { isJsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";
import { type Placed, printPlaced, readPlaced } from "../thoughts-in-text.ts";

/** The same for every provider of this kind: what one signed, the others accept. */
export const FAMILY = "bedrock";

export type ReasoningBlock = { text: string; signature: string } | { redacted: string };

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Returns what is handed over with a call; null if there is nothing to keep. `by` is the signer of the reasoning. */
export const keptReasoning = (
  placed: readonly Placed<ReasoningBlock>[],
  by: string,
): Record<string, unknown> | null => (placed.length === 0 ? null : { by, reasoning: printPlaced(placed) });

/**
 * Returns the reasoning that a call brought back. Null if none of it is signed by `by`, or any of it differs from what
 * was handed over: then none counts.
 */
export function returnedReasoning(
  extra: Record<string, unknown> | undefined,
  by: string,
): Placed<ReasoningBlock>[] | null {
  const own = extraOf(extra, FAMILY);
  return isJsonObject(own) && own["by"] === by ? readPlaced(own["reasoning"], reasoningBlockOf) : null;
}

/** Returns a block with a proof in it; null for unsigned reasoning. */
export function reasoningBlockOf({
  text,
  signature,
  redacted,
}: Record<string, unknown>): ReasoningBlock | null {
  if (typeof redacted === "string" && BASE64.test(redacted)) return { redacted };
  if (typeof text !== "string" || typeof signature !== "string" || signature === "") return null;
  return { text, signature };
}
