// The simulator's answer to a request: the same request gives the same text and the same usage (interfaces.md §6).
import { countTokens } from "../../pricing/tokens.ts";
import { type Asked, promptTexts, messageText } from "./asked.ts";
import type { Behaviour } from "./behaviour.ts";
import { valueOf } from "./schema-value.ts";
import { numbersFrom, pieces } from "./words.ts";

/** A fragment of a choice, sent as one event of a stream. `tokens` is what it adds to the bill. */
export interface Fragment {
  delta: Record<string, unknown>;
  tokens: number;
  reasoning: boolean;
}

export interface SimulatedChoice {
  fragments: Fragment[];
  finishReason: "stop" | "length" | "tool_calls";
}

export interface SimulatedAnswer {
  promptTokens: number;
  /** How many alternatives of each token have a log probability; null if none were requested. */
  topLogprobs: number | null;
  choices: SimulatedChoice[];
}

/** In a demo its token counts take turns with those of the gateway. */
const SHARE = { organizationId: "simulator", lane: "progress" } as const;
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_REQUEST = 3;
const REASONING_TOKENS: Record<string, number> = { none: 0, minimal: 4, low: 8, medium: 16, high: 32 };

export async function answerTo(asked: Asked, behaviour: Behaviour): Promise<SimulatedAnswer> {
  const counted = await countTokens(promptTexts(asked), "o200k_base", SHARE);
  const { messages, documentTokens = 0 } = asked;
  const promptTokens = counted + documentTokens + TOKENS_PER_MESSAGE * messages.length + TOKENS_PER_REQUEST;
  const choices = Array.from({ length: asked.n ?? 1 }, (_, index) => choiceOf(asked, behaviour, index));
  const topLogprobs = asked.logprobs === true ? (asked.top_logprobs ?? 0) : null;
  return { promptTokens, topLogprobs, choices: await Promise.all(choices) };
}

async function choiceOf(asked: Asked, behaviour: Behaviour, index: number): Promise<SimulatedChoice> {
  const next = numbersFrom(
    `${asked.model}\n${JSON.stringify(asked.messages)}\n${asked.seed ?? ""}\n${index}`,
  );
  const { deltas } = behaviour;
  if (deltas !== undefined)
    return {
      fragments: deltas.map((delta) => ({ delta, tokens: 1, reasoning: false })),
      finishReason: "stop",
    };
  const called = behaviour.text === undefined ? callsIn(asked, behaviour) : [];
  const thought = reasoningOf(asked, next);
  if (called.length > 0) {
    const calls = await Promise.all(called.map((call, at) => toolFragments(call, at, next)));
    return capped([...thought, ...calls.flat()], "tool_calls", limitOf(asked, behaviour));
  }
  const said = await textFragments(asked, behaviour, next);
  return capped([...thought, ...said], "stop", limitOf(asked, behaviour));
}

function limitOf(asked: Asked, behaviour: Behaviour): number {
  if (behaviour.overrun_tokens !== undefined) return Number.POSITIVE_INFINITY;
  return asked.max_completion_tokens ?? asked.max_tokens ?? Number.POSITIVE_INFINITY;
}

/** Cuts the fragments at the caller's maximum; hidden ones count. */
function capped(
  fragments: Fragment[],
  reason: SimulatedChoice["finishReason"],
  limit: number,
): SimulatedChoice {
  let used = 0;
  const kept: Fragment[] = [];
  for (const fragment of fragments) {
    if (used + fragment.tokens > limit) return { fragments: kept, finishReason: "length" };
    used += fragment.tokens;
    kept.push(fragment);
  }
  return { fragments: kept, finishReason: reason };
}

function reasoningOf({ reasoning_effort: effort }: Asked, next: () => number): Fragment[] {
  const tokens = effort === undefined ? 0 : (REASONING_TOKENS[effort] ?? 16);
  return [...pieces(tokens, next)].map((text) => ({
    delta: { reasoning_content: text },
    tokens: 1,
    reasoning: true,
  }));
}

async function textFragments(asked: Asked, behaviour: Behaviour, next: () => number): Promise<Fragment[]> {
  const fixed = behaviour.text ?? structured(asked);
  if (fixed !== null) return [await fragment({ content: fixed }, [fixed])];
  const tokens = behaviour.overrun_tokens ?? behaviour.completion_tokens ?? 8 + (next() % 24);
  return [...pieces(tokens, next)].map((text) => ({ delta: { content: text }, tokens: 1, reasoning: false }));
}

const fragment = async (delta: Fragment["delta"], texts: string[]): Promise<Fragment> => ({
  delta,
  tokens: await countTokens(texts, "o200k_base", SHARE),
  reasoning: false,
});

function structured({ response_format: format }: Asked): string | null {
  if (format?.type === "json_object") return JSON.stringify({ answer: "light" });
  if (format?.type !== "json_schema") return null;
  return JSON.stringify(valueOf(format.json_schema?.schema));
}

interface Called {
  name: string;
  arguments: string;
}

const callsIn = (asked: Asked, { tool_rounds: rounds }: Behaviour): Called[] =>
  rounds === undefined ? calledTools(asked) : scriptedCalls(asked, rounds);

/** Returns the round that the conversation has reached; none after the last, or if a tool of it is not offered. */
function scriptedCalls(
  { tools = [], messages }: Asked,
  rounds: NonNullable<Behaviour["tool_rounds"]>,
): Called[] {
  const isResult = (at: number): boolean => messages[at]?.role === "tool";
  const done = messages.filter((_, at) => isResult(at) && !isResult(at - 1)).length;
  const round = rounds[done] ?? [];
  if (!round.every(({ name }) => tools.some((tool) => tool.function.name === name))) return [];
  return round.map(({ name, arguments: said }) => ({ name, arguments: JSON.stringify(said) }));
}

/**
 * Returns the tool that `tool_choice` names, or those that the last user message does; none after a tool's result,
 * which the model answers in words.
 */
function calledTools({
  tools = [],
  tool_choice: choice,
  parallel_tool_calls: parallel,
  messages,
}: Asked): Called[] {
  const last = messages.at(-1);
  if (choice === "none" || last === undefined || last.role === "tool") return [];
  const text = messageText(last);
  const words = new Set(text.split(/[^\w-]+/));
  const named = tools.filter(({ function: tool }) => namedBy(choice) === tool.name);
  const said = tools.filter(({ function: tool }) => words.has(tool.name));
  const within = tools.filter(({ function: tool }) => text.includes(tool.name)).slice(0, 1);
  const first = choice === "required" ? tools.slice(0, 1) : [];
  const chosen = [named, said, within, first].find((some) => some.length > 0) ?? [];
  return (parallel === false ? chosen.slice(0, 1) : chosen).map(({ function: { name, parameters } }) => ({
    name,
    arguments: JSON.stringify(valueOf(parameters ?? { type: "object" })),
  }));
}

function namedBy(choice: unknown): string | null {
  if (typeof choice !== "object" || choice === null || !("function" in choice)) return null;
  const { function: called } = choice;
  return typeof called === "object" && called !== null && "name" in called ? String(called.name) : null;
}

async function toolFragments(called: Called, index: number, next: () => number): Promise<Fragment[]> {
  const half = Math.ceil(called.arguments.length / 2);
  const id = `call_${next().toString(36)}${next().toString(36)}`;
  const begin = { index, id, type: "function", function: { name: called.name, arguments: "" } };
  const parts = [called.arguments.slice(0, half), called.arguments.slice(half)].filter((text) => text !== "");
  return [
    await fragment({ tool_calls: [begin] }, [called.name]),
    ...(await Promise.all(
      parts.map((text) => fragment({ tool_calls: [{ index, function: { arguments: text } }] }, [text])),
    )),
  ];
}
