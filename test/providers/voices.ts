// Pieces of an answer in every shape that a provider may speak, to be put together wrongly: each event alone, with figures that are
// printed as a test writes them (`1e400`, `-5`, `"20"`), whether or not JSON could hold them.
import { expect } from "bun:test";
import { message } from "../../src/providers/simulator/bedrock/frame.ts";
import { block, candidate, chunk, ended, question, started, type Script, type Scripted } from "./scripted.ts";

export const SHAPES = ["openai", "responses", "claude", "gemini", "bedrock"] as const;
export type Shape = (typeof SHAPES)[number];
export type Reason = "stop" | "length" | "content_filter";

/** A figure that is printed as it is written here. */
export const written = (figure: string): string => `@@${figure}@@`;
const printed = (value: unknown): string =>
  JSON.stringify(value).replace(/"@@(.*?)@@"/g, (_, figure: string) => figure.replaceAll('\\"', '"'));

/** One event; at Bedrock its name and its payload. */
type Event = unknown;
type Figure = number | string | null;

export interface Voice {
  /** The surface on which the shape is heard, and the question. */
  path: string;
  ask(this: void, stream: boolean): object;
  usage(this: void, prompt: Figure, completion: Figure, total?: Figure): object;
  /** Begins an answer; Claude may report usage here. */
  begin(this: void, usage?: object): Event[];
  text(this: void, text: string, place?: number): Event[];
  call(this: void, place: number, id: string, name: string, ...args: string[]): Event[];
  /** What reports the end of the answer and its usage, in the shape's own order. */
  close(this: void, reason: Reason, usage: object | null, text?: string): Event[];
  /** Usage alone, where the shape has it. */
  told(this: void, usage: object): Event[];
  /** The terminator. */
  end: Event[];
  whole(this: void, text: string, usage: object | null): object;
  /** An error body in the shape's form. */
  error: object;
}

const asked = (model: Shape) => (stream: boolean) => question(model, { stream });
const CLAUDE = { stop: "end_turn", length: "max_tokens", content_filter: "refusal" };
const GEMINI = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" };
const CONVERSE = { stop: "end_turn", length: "max_tokens", content_filter: "content_filtered" };
const some = (name: string, value: object | null): object => (value === null ? {} : { [name]: value });
const at = (index: number, list: object[]): object[] => list.map((one) => ({ ...one, index }));
const overloaded = {
  error: { code: 503, type: "overloaded_error", status: "UNAVAILABLE", message: "Overloaded" },
};

const openai: Voice = {
  path: "/v1/chat/completions",
  ask: (stream) => question("openai", { stream }),
  usage: (prompt_tokens, completion_tokens, total) => ({
    prompt_tokens,
    completion_tokens,
    ...(total !== undefined && { total_tokens: total }),
  }),
  begin: () => [chunk({ role: "assistant", content: "" })],
  text: (content) => [chunk({ content })],
  call: (index, id, name, ...args) => [
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    ...args.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ],
  close: (reason, usage) => [chunk({}, reason), ...(usage === null ? [] : [{ choices: [], usage }])],
  told: (usage) => [{ choices: [], usage }],
  end: ["[DONE]"],
  whole: (content, usage) => ({
    id: "up",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    ...some("usage", usage),
  }),
  error: overloaded,
};

const claude: Voice = {
  path: "/v1/chat/completions",
  ask: asked("claude"),
  usage: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  begin: (usage = {}) => [started(usage)],
  text: (text, place = 0) => at(place, block({ type: "text", text: "" }, { type: "text_delta", text })),
  call: (place, id, name, ...args) =>
    at(
      place,
      block(
        { type: "tool_use", id, name, input: {} },
        ...args.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      ),
    ),
  close: (reason, usage) => {
    const [last] = ended(CLAUDE[reason], 0);
    return [{ ...last, usage: usage ?? {} }];
  },
  told: (usage) => [{ type: "message_delta", delta: {}, usage }],
  end: [{ type: "message_stop" }],
  whole: (text, usage) => ({
    id: "msg_up",
    type: "message",
    role: "assistant",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    ...some("usage", usage),
  }),
  error: { type: "error", ...overloaded },
};

const gemini: Voice = {
  path: "/v1/chat/completions",
  ask: asked("gemini"),
  usage: (promptTokenCount, candidatesTokenCount, total) => ({
    promptTokenCount,
    candidatesTokenCount,
    ...(total !== undefined && { totalTokenCount: total }),
  }),
  begin: () => [],
  text: (text) => [candidate([{ text }])],
  call: (_place, id, name, ...args) => [
    candidate([{ functionCall: { id, name, args: JSON.parse(args.join("") || "{}") as object } }]),
  ],
  close: (reason, usage) => [{ ...candidate([], GEMINI[reason]), ...some("usageMetadata", usage) }],
  told: (usageMetadata) => [{ usageMetadata }],
  end: ["[DONE]"],
  whole: (text, usage) => ({ ...candidate([{ text }], "STOP"), ...some("usageMetadata", usage) }),
  error: overloaded,
};

const bedrock: Voice = {
  path: "/v1/chat/completions",
  ask: asked("bedrock"),
  usage: (inputTokens, outputTokens, total) => ({
    inputTokens,
    outputTokens,
    ...(total !== undefined && { totalTokens: total }),
  }),
  begin: () => [["messageStart", { role: "assistant" }]],
  text: (text, contentBlockIndex = 0) => [
    ["contentBlockDelta", { contentBlockIndex, delta: { text } }],
    ["contentBlockStop", { contentBlockIndex }],
  ],
  call: (contentBlockIndex, toolUseId, name, ...args) => [
    ["contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name } } }],
    ...args.map((input) => ["contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input } } }]),
    ["contentBlockStop", { contentBlockIndex }],
  ],
  close: (reason, usage) => [
    ["messageStop", { stopReason: CONVERSE[reason] }],
    ...(usage === null ? [] : [["metadata", { usage }]]),
  ],
  told: (usage) => [["metadata", { usage }]],
  end: [],
  whole: (text, usage) => ({
    output: { message: { role: "assistant", content: [{ text }] } },
    stopReason: "end_turn",
    ...some("usage", usage),
  }),
  error: { message: "Overloaded", __type: "ServiceUnavailableException" },
};

const outputOf = (text: string): object[] => [
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  },
];
const responses: Voice = {
  path: "/v1/responses",
  ask: (stream) => ({ model: "responses", input: "Say hello", max_output_tokens: 200, store: false, stream }),
  usage: (input_tokens, output_tokens, total) => ({
    input_tokens,
    output_tokens,
    ...(total !== undefined && { total_tokens: total }),
  }),
  begin: () => [{ type: "response.created", response: { id: "resp_up", status: "in_progress", output: [] } }],
  text: (delta, place = 0) => [
    {
      type: "response.output_text.delta",
      output_index: place,
      content_index: 0,
      item_id: `msg_${place}`,
      delta,
    },
  ],
  call: (place, call_id, name, ...args) => [
    {
      type: "response.output_item.added",
      output_index: place,
      item: { type: "function_call", id: `fc_${place}`, call_id, name, arguments: "", status: "in_progress" },
    },
    ...args.map((delta) => ({
      type: "response.function_call_arguments.delta",
      output_index: place,
      item_id: `fc_${place}`,
      delta,
    })),
  ],
  close: (reason, usage, text = "Hello there") => [
    {
      type: reason === "stop" ? "response.completed" : "response.incomplete",
      response: {
        id: "resp_up",
        status: reason === "stop" ? "completed" : "incomplete",
        ...(reason !== "stop" && {
          incomplete_details: { reason: reason === "length" ? "max_output_tokens" : reason },
        }),
        output: outputOf(text),
        ...some("usage", usage),
      },
    },
  ],
  told: (usage) => [
    { type: "response.in_progress", response: { id: "resp_up", status: "in_progress", usage } },
  ],
  end: [],
  whole: (text, usage) => ({
    id: "resp_up",
    object: "response",
    status: "completed",
    output: outputOf(text),
    ...some("usage", usage),
  }),
  error: { error: { message: "Overloaded", type: "server_error", code: "server_error", param: null } },
};

export const VOICES: Record<Shape, Voice> = { openai, responses, claude, gemini, bedrock };

/** The bytes of a stream of these events. */
export function streamOf(shape: Shape, ...list: Event[][]): Script {
  const all = list.flat();
  if (shape === "bedrock")
    return Buffer.concat(
      (all as [string, object][]).map(([type, payload]) =>
        message(
          { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
          printed(payload),
        ),
      ),
    );
  return all.map((one) => `data: ${typeof one === "string" ? one : printed(one)}\n\n`).join("");
}

/** A whole answer. */
export const wholeOf = (shape: Shape, usage: object | null, text = "Hello there"): string =>
  printed(VOICES[shape].whole(text, usage));

/** An answer of two words whose usage is this. */
export function helloIn(shape: Shape, usage: object | null, reason: Reason = "stop"): Script {
  const voice = VOICES[shape];
  return streamOf(shape, voice.begin(), voice.text("Hello there"), voice.close(reason, usage), voice.end);
}

/** Figures that are none, as they would be written. */
export const FIGURES: Record<string, string> = {
  "a text": '"20"',
  "a negative number": "-5",
  "a fraction": "1.5",
  "1e400": "1e400",
  "-1e400": "-1e400",
  "more than a double holds": "9007199254740993",
  true: "true",
  "a list": "[20]",
  "an object": "{}",
  nothing: "null",
};

/** What a provider of the shape says, as its caller and the ledger have it; nothing stays held. */
export async function answerOf(
  house: Scripted,
  { shape, script, stream }: { shape: Shape; script: Script; stream: boolean },
) {
  house.says(script);
  const { path, ask } = VOICES[shape];
  const told = await house.post(path, ask(stream));
  expect((await house.gateway.balance(house.one)).held).toBe(0n as never);
  expect(["settled", "released"]).toContain(told.record.state);
  return told;
}
