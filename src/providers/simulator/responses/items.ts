// The simulator's answer as items of the Responses shape, each with the names of its events.
import { randomBase62 } from "../../../lib/id.ts";
import type { Fragment, SimulatedAnswer } from "../answer.ts";
import { logprobsOf } from "../logprobs.ts";
import { groupedName, offeredIn } from "./heard.ts";
import type { ResponsesCall } from "./request.ts";
import { reasoningSeal } from "./seal.ts";

interface Piece {
  text: string;
  tokens: number;
}

/** How an item's text is sent; null = there is no such event. */
interface Words {
  place: object;
  opens: string | null;
  delta: string | null;
  done: string;
  closes: string | null;
  member: string;
  part(text: string): object;
  logprobs: ((piece: Piece) => unknown[]) | null;
}

export interface SimulatedItem {
  id: string;
  opening: object;
  item: object;
  words: Words;
  pieces: Piece[];
}

interface Run {
  kind: "text" | "refusal" | "reasoning" | "call";
  call?: { id: string; name: string };
  pieces: Piece[];
}

/** Consecutive text, refusal or reasoning is one item; each call is one. */
export function simulatedItems(answer: SimulatedAnswer, call: ResponsesCall): SimulatedItem[] {
  const {
    choices: [choice],
    topLogprobs,
  } = answer;
  const runs: Run[] = [];
  for (const fragment of choice?.fragments ?? []) {
    const { kind, call: begun, text } = spoken(fragment);
    const last = runs.at(-1);
    const piece = { text, tokens: fragment.tokens };
    if (last?.kind === kind && begun === undefined) last.pieces.push(piece);
    else runs.push({ kind, ...(begun && { call: begun }), pieces: [piece] });
  }
  const cut = choice?.finishReason === "length";
  return runs.map((run, at) => {
    const status = cut && at === runs.length - 1 ? "incomplete" : "completed";
    if (run.kind === "reasoning") return thought(run, call);
    return run.kind === "call" ? called(run, call, status) : message(run, { status, topLogprobs });
  });
}

interface CallDelta {
  id?: string;
  function: { name?: string; arguments: string };
}

function spoken({ delta }: Fragment): Omit<Run, "pieces"> & { text: string } {
  const [begun] = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as CallDelta[]) : [];
  if (begun !== undefined) {
    const { id, function: named } = begun;
    return {
      kind: "call",
      ...(id !== undefined && { call: { id, name: named.name ?? "" } }),
      text: named.arguments,
    };
  }
  const { reasoning_content: reasoning, refusal, content } = delta;
  if (typeof reasoning === "string") return { kind: "reasoning", text: reasoning };
  if (typeof refusal === "string") return { kind: "refusal", text: refusal };
  return { kind: "text", text: typeof content === "string" ? content : "" };
}

const joined = ({ pieces }: Run): string => pieces.map(({ text }) => text).join("");

function message(
  run: Run,
  { status, topLogprobs }: { status: string; topLogprobs: number | null },
): SimulatedItem {
  const id = `msg_sim${randomBase62(16)}`;
  const refused = run.kind === "refusal";
  const logprobsIn = ({ text, tokens }: Piece): unknown[] =>
    logprobsOf([{ delta: { content: text }, tokens, reasoning: false }], topLogprobs)?.content ?? [];
  const part = (text: string, logprobs: unknown[] = []): object =>
    refused ? { type: "refusal", refusal: text } : { type: "output_text", annotations: [], logprobs, text };
  const whole = part(joined(run), run.pieces.flatMap(logprobsIn));
  const head = { id, type: "message", role: "assistant" };
  const name = refused ? "refusal" : "output_text";
  return {
    id,
    opening: { ...head, status: "in_progress", content: [] },
    item: { ...head, status, content: [whole] },
    pieces: run.pieces,
    words: {
      place: { content_index: 0 },
      opens: "response.content_part.added",
      delta: `response.${name}.delta`,
      done: `response.${name}.done`,
      closes: "response.content_part.done",
      member: refused ? "refusal" : "text",
      part: (text) => (text === "" ? part("") : whole),
      logprobs: refused ? null : logprobsIn,
    },
  };
}

/** Its text is sent as a summary if one was requested, and its seal if that was. */
function thought(run: Run, { reasoning, include = [] }: ResponsesCall): SimulatedItem {
  const id = `rs_sim${randomBase62(16)}`;
  const told = typeof reasoning?.summary === "string";
  const sealed = include.includes("reasoning.encrypted_content") && { encrypted_content: reasoningSeal(id) };
  const part = (text: string): object => ({ type: "summary_text", text });
  const head = { id, type: "reasoning" };
  return {
    id,
    opening: { ...head, summary: [], ...sealed },
    item: { ...head, summary: told ? [part(joined(run))] : [], ...sealed },
    pieces: run.pieces,
    words: {
      place: { summary_index: 0 },
      opens: told ? "response.reasoning_summary_part.added" : null,
      delta: told ? "response.reasoning_summary_text.delta" : null,
      done: "response.reasoning_summary_text.done",
      closes: "response.reasoning_summary_part.done",
      member: "text",
      part,
      logprobs: null,
    },
  };
}

interface Offered {
  type: "function" | "custom";
  name: string;
  namespace: string | undefined;
}

function offeredAs(tool: NonNullable<ResponsesCall["tools"]>[number]): Offered[] {
  if (tool.type === "tool_search") return [];
  return tool.type === "namespace"
    ? tool.tools.map(({ type, name }) => ({ type, name, namespace: tool.name }))
    : [{ type: tool.type, name: tool.name, namespace: undefined }];
}

function called(run: Run, call: ResponsesCall, status: string): SimulatedItem {
  const named = run.call ?? { id: "", name: "" };
  const tool = offeredIn(call)
    .flatMap(offeredAs)
    .find(({ name, namespace }) => groupedName({ name, namespace }) === named.name);
  const custom = tool?.type === "custom";
  const id = `${custom ? "ctc" : "fc"}_sim${randomBase62(16)}`;
  const head = {
    id,
    type: custom ? "custom_tool_call" : "function_call",
    call_id: named.id,
    name: tool?.name ?? named.name,
    ...(tool?.namespace !== undefined && { namespace: tool.namespace }),
  };
  const member = custom ? "input" : "arguments";
  const event = custom ? "custom_tool_call_input" : "function_call_arguments";
  const pieces = custom ? [inputOf(run)] : run.pieces;
  const text = pieces.map((piece) => piece.text).join("");
  return {
    id,
    opening: { ...head, ...(!custom && { status: "in_progress" }), [member]: "" },
    item: { ...head, ...(!custom && { status }), [member]: text },
    pieces,
    words: {
      place: {},
      opens: null,
      delta: `response.${event}.delta`,
      done: `response.${event}.done`,
      closes: null,
      member,
      part: () => ({}),
      logprobs: null,
    },
  };
}

/** Free text: the model's one argument. */
function inputOf(run: Run): Piece {
  const tokens = run.pieces.reduce((total, piece) => total + piece.tokens, 0);
  try {
    const { input } = JSON.parse(joined(run)) as { input?: unknown };
    return { text: typeof input === "string" ? input : joined(run), tokens };
  } catch {
    return { text: joined(run), tokens };
  }
}
