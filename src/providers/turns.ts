// One of our conversations in the form of vendors whose roles alternate: tool results come right after the calls, in
// the calls' order and before everything else; thoughts come before the calls that they led to (wire.md §8.2, §8.4).
// What a block looks like depends on the shape.
import type { Message, ToolCall } from "../domain/chat-request.ts";
import { exactObject } from "../domain/exact-json.ts";
import { isJsonObject } from "../domain/read-value.ts";
import { CallIds } from "./call-ids.ts";
import { readJson } from "./http/json.ts";
import { type Placed, withThoughts } from "./thoughts-in-text.ts";

/** Such conversations must begin and end with the user. */
export const OPENING = "Begin.";
export const CLOSING = "Continue.";

export interface Turn<Block> {
  role: "user" | "assistant";
  content: Block[];
}

/** A call, its id upstream, and its tool results. */
interface Called {
  call: ToolCall;
  id: string;
  results: readonly Message[];
}

/** Makes the blocks of one shape. */
export interface Blocks<Block> {
  /** The blocks of a message from anyone but the model or a tool. */
  heard(message: Message): Block[];
  /** The blocks of the model's message, including its calls. */
  said(message: Message, calls: readonly Called[]): Block[];
  /** The block that answers a call. */
  result(called: Called): Block;
  text(text: string): Block;
  /** Returns what a block is, as far as that decides whether the model may think. */
  role(block: Block): "thought" | "call" | "result" | null;
}

export interface AlternatingTurns<Block> {
  turns: Turn<Block>[];
  /** True if the current tool round began without the thoughts that led to it; some models must not think in it then. */
  lost: boolean;
}

/** Returns the turns of a conversation; none if the messages are all empty. */
export function turnsOf<Block>(messages: readonly Message[], blocks: Blocks<Block>): AlternatingTurns<Block> {
  const turns: Turn<Block>[] = [];
  const results = resultsOf(messages);
  const ids = new CallIds();
  for (const message of messages) {
    if (message.role === "tool") continue; // added after its call
    if (message.role !== "assistant") {
      add(turns, "user", blocks.heard(message));
      continue;
    }
    const calls = (message.tool_calls ?? []).map((call) => ({
      call,
      id: ids.next(call.id),
      results: results.get(call) ?? [],
    }));
    add(turns, "assistant", blocks.said(message, calls));
    add(
      turns,
      "user",
      calls.map((called) => blocks.result(called)),
    );
  }
  const lost = roundWithoutThoughts(turns, blocks);
  if (turns[0]?.role === "assistant") turns.unshift({ role: "user", content: [blocks.text(OPENING)] });
  if (turns.at(-1)?.role === "assistant") add(turns, "user", [blocks.text(CLOSING)]);
  return { turns, lost };
}

function add<Block>(turns: Turn<Block>[], role: Turn<Block>["role"], content: Block[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== role) turns.push({ role, content });
  else for (const block of content) last.content.push(block); // spreading a million of them would overflow the stack
}

/**
 * Returns the tool results of each call. An id may be used more than once: its latest calls are answered then, in
 * order.
 */
export function resultsOf(messages: readonly Message[]): ReadonlyMap<ToolCall, readonly Message[]> {
  const open = new Map<string, { calls: ToolCall[]; answered: number }>();
  const results = new Map<ToolCall, Message[]>();
  for (const message of messages) {
    const { tool_calls: calls = [], tool_call_id: id } = message;
    for (const call of calls) open.set(call.id, { calls: [], answered: 0 });
    for (const call of calls) open.get(call.id)?.calls.push(call);
    const asked = id === undefined ? undefined : open.get(id);
    const call = asked?.calls[asked.answered] ?? asked?.calls.at(-1);
    if (asked === undefined || call === undefined) continue;
    asked.answered += 1;
    const known = results.get(call);
    if (known === undefined) results.set(call, [message]);
    else known.push(message);
  }
  return results;
}

/** True if the first turn with calls since the user last spoke has no thought in front of them. */
function roundWithoutThoughts<Block>(
  turns: readonly Turn<Block>[],
  { role: roleOf }: Pick<Blocks<Block>, "role">,
): boolean {
  const asked = turns.findLastIndex(
    ({ role, content }) => role === "user" && content.every((block) => roleOf(block) !== "result"),
  );
  const first = turns
    .slice(asked + 1)
    .find(({ content }) => content.some((block) => roleOf(block) === "call"));
  return first !== undefined && first.content.every((block) => roleOf(block) !== "thought");
}

/** A call's block, and the thoughts that led to it. */
export interface Reasoned<Block> {
  block: Block;
  thoughts: readonly Placed<Block>[];
}

/** Returns texts, thoughts and calls in the order in which they were said, each thought in front of its call. */
export function inOrder<Block, Text extends Block & { text: string }>(
  texts: readonly Text[],
  calls: readonly Reasoned<Block>[],
): Block[] {
  const [first, ...others] = calls;
  if (first === undefined) return [...texts];
  return [
    ...mixed(texts, first.thoughts),
    first.block,
    ...others.flatMap(({ block, thoughts }) => [...thoughts.map((placed) => placed.block), block]),
  ];
}

/**
 * Puts thoughts where they stood in the text, or in front of texts that came in several pieces. Every piece of a text
 * keeps the text's other members.
 */
function mixed<Block, Text extends Block & { text: string }>(
  texts: readonly Text[],
  thoughts: readonly Placed<Block>[],
): Block[] {
  const [only, ...more] = texts;
  if (only === undefined || more.length > 0) return [...thoughts.map(({ block }) => block), ...texts];
  return withThoughts<Block>(only.text, thoughts, (text) => ({ ...only, text }));
}

/**
 * Returns a call's arguments, which are text on our side. Text that is not an object was written by a failing model,
 * and is shown as it is.
 */
export function argumentsOf({ function: { arguments: text } }: ToolCall): Record<string, unknown> {
  const value = text.trim() === "" ? {} : readJson(text);
  return isJsonObject(value) ? exactObject(text, value) : { arguments: text };
}
