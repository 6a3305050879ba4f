// The simulator's answer as the blocks of the Messages shape.
import type { Fragment, SimulatedAnswer } from "../answer.ts";

interface Piece {
  words: string;
  tokens: number;
}

export interface SaidBlock {
  kind: "text" | "thinking" | "tool_use";
  /** Set for a call. */
  call?: { id: string; name: string };
  pieces: Piece[];
}

interface CallDelta {
  id?: string;
  function: { name?: string; arguments: string };
}

/** Consecutive text or thinking is one block; each call is one. */
export function claudeBlocks({ choices: [choice] }: SimulatedAnswer): SaidBlock[] {
  const blocks: SaidBlock[] = [];
  for (const fragment of choice?.fragments ?? []) {
    const { kind, call, words } = spoken(fragment);
    const piece = { words, tokens: fragment.tokens };
    const last = blocks.at(-1);
    if (last?.kind === kind && call === undefined) last.pieces.push(piece);
    else blocks.push({ kind, ...(call && { call }), pieces: [piece] });
  }
  return blocks;
}

function spoken({ delta }: Fragment): Omit<SaidBlock, "pieces"> & { words: string } {
  const [call] = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as CallDelta[]) : [];
  if (call !== undefined) {
    const { id, function: called } = call;
    const begins = id === undefined ? {} : { call: { id, name: called.name ?? "" } };
    return { kind: "tool_use", ...begins, words: called.arguments };
  }
  const { reasoning_content: thought, content } = delta;
  return typeof thought === "string"
    ? { kind: "thinking", words: thought }
    : { kind: "text", words: typeof content === "string" ? content : "" };
}

export const wordsIn = (pieces: readonly Piece[]): string => pieces.map(({ words }) => words).join("");

/** Returns the beginning of a block in a stream. */
export function openingOf({ kind, call }: SaidBlock): object {
  if (kind === "text") return { type: "text", text: "" };
  if (kind === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { type: "tool_use", ...call, input: {} };
}

/** Truncated arguments become an empty object. */
export function inputOfCall(words: string): unknown {
  try {
    return JSON.parse(words) as unknown;
  } catch {
    return {};
  }
}
