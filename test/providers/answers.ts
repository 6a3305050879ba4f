// One answer in every upstream shape, and as a client of every surface finally has it.
import { expect } from "bun:test";
import { readEvents } from "../support/events.ts";
import { eventsOfMessage, finalMessage, type MessageJson, readMessage } from "../support/message-schema.ts";
import { readResponseStream, type ResponseJson, responseSchema } from "../support/response-schema.ts";
import { block, candidate, chunk, ended, events, frames, type Script, started } from "./scripted.ts";

export interface Spoken {
  reasoning?: string;
  text?: string;
  refusal?: string;
  calls?: { id: string; name: string; args: Record<string, unknown> }[];
  end: "stop" | "length" | "tool_calls" | "content_filter";
  prompt: number;
  completion: number;
}

/** The answer as the client has it. */
export interface HeardAnswer {
  reasoning: string;
  text: string;
  refusal: string;
  calls: { name: string; args: unknown }[];
  end: Spoken["end"] | "error";
  usage: [number, number] | null;
}

type Says = (spoken: Spoken, broken: boolean) => { stream: Script; whole: string };
const json = (body: object): string => JSON.stringify(body);
/** In pieces, so that they have to be assembled. */
const halves = (text: string): [string, string] => [text.slice(0, 3), text.slice(3)];
const overloaded = { error: { code: 503, type: "overloaded_error", message: "Overloaded" } };

const openai: Says = (
  { reasoning = "", text = "", refusal, calls = [], end, prompt, completion },
  broken,
) => {
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const called = calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: json(args) },
  }));
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(refusal !== undefined && { refusal }),
    ...(called.length > 0 && { tool_calls: called }),
  };
  const said = [
    chunk({ role: "assistant", content: "" }),
    ...(reasoning === "" ? [] : halves(reasoning).map((one) => chunk({ reasoning_content: one }))),
    ...(text === "" ? [] : halves(text).map((content) => chunk({ content }))),
    ...(refusal === undefined ? [] : halves(refusal).map((one) => chunk({ refusal: one }))),
    ...called.flatMap(({ function: { name, arguments: args }, ...one }) => [
      chunk({ tool_calls: [{ ...one, function: { name, arguments: "" } }] }),
      ...halves(args).map((piece) =>
        chunk({ tool_calls: [{ index: one.index, function: { arguments: piece } }] }),
      ),
    ]),
  ];
  const rest = broken ? [overloaded] : [chunk({}, end), { choices: [], usage }, "[DONE]"];
  return {
    stream: events(...said, ...rest),
    whole: json({ id: "up", choices: [{ index: 0, message, finish_reason: end }], usage }),
  };
};

const CLAUDE = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use", content_filter: "refusal" };
const claude: Says = (
  { reasoning = "", text = "", refusal, calls = [], end, prompt, completion },
  broken,
) => {
  const stop_reason = refusal === undefined ? CLAUDE[end] : "refusal";
  const told = {
    stop_reason,
    stop_sequence: null,
    ...(refusal !== undefined && { stop_details: { type: "refusal", explanation: refusal } }),
  };
  const content = [
    ...(reasoning === "" ? [] : [{ type: "thinking", thinking: reasoning, signature: "c2ln" }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
  ];
  const grown = content.flatMap((one, index) => {
    const at = (list: object[]): object[] => list.map((event) => ({ ...event, index }));
    if ("thinking" in one) {
      const deltas = halves(reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
      const open = { type: "thinking", thinking: "", signature: "" };
      return at(block(open, ...deltas, { type: "signature_delta", signature: "c2ln" }));
    }
    if ("text" in one)
      return at(
        block(
          { type: "text", text: "" },
          ...halves(text).map((piece) => ({ type: "text_delta", text: piece })),
        ),
      );
    const pieces = halves(json(one.input)).map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    return at(block({ ...one, input: {} }, ...pieces));
  });
  const usage = { input_tokens: prompt, output_tokens: completion };
  const [last, over] = ended(stop_reason, completion);
  const begun = started({ input_tokens: prompt, output_tokens: 1 });
  return {
    stream: broken
      ? events(begun, ...grown, { type: "error", ...overloaded })
      : events(begun, ...grown, { ...last, delta: told }, over),
    whole: json({
      id: "msg_up",
      type: "message",
      role: "assistant",
      model: "up",
      content,
      ...told,
      usage,
    }),
  };
};

const GEMINI = { stop: "STOP", length: "MAX_TOKENS", tool_calls: "STOP", content_filter: "SAFETY" };
const gemini: Says = ({ reasoning = "", text = "", calls = [], end, prompt, completion }, broken) => {
  const usageMetadata = {
    promptTokenCount: prompt,
    candidatesTokenCount: completion,
    totalTokenCount: prompt + completion,
  };
  const parts = [
    ...(reasoning === "" ? [] : [{ text: reasoning, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
  ];
  const said = parts.map((part) => candidate([part]));
  return {
    stream: broken
      ? events(...said, overloaded)
      : events(...said, { ...candidate([], GEMINI[end]), usageMetadata }),
    whole: json({ ...candidate(parts, GEMINI[end]), usageMetadata }),
  };
};

const CONVERSE = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "content_filtered",
};
const bedrock: Says = ({ reasoning = "", text = "", calls = [], end, prompt, completion }, broken) => {
  const usage = { inputTokens: prompt, outputTokens: completion, totalTokens: prompt + completion };
  const content = [
    ...(reasoning === ""
      ? []
      : [{ reasoningContent: { reasoningText: { text: reasoning, signature: "c2ln" } } }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } })),
  ];
  const said = content.flatMap((one, contentBlockIndex): [string, object][] => {
    const delta = (told: object): [string, object] => [
      "contentBlockDelta",
      { contentBlockIndex, delta: told },
    ];
    const over: [string, object] = ["contentBlockStop", { contentBlockIndex }];
    if ("reasoningContent" in one)
      return [
        ...halves(reasoning).map((piece) => delta({ reasoningContent: { text: piece } })),
        delta({ reasoningContent: { signature: "c2ln" } }),
        over,
      ];
    if ("text" in one) return [...halves(text).map((piece) => delta({ text: piece })), over];
    const { toolUseId, name, input } = one.toolUse;
    return [
      ["contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name } } }],
      ...halves(json(input)).map((piece) => delta({ toolUse: { input: piece } })),
      over,
    ];
  });
  const rest: [string, object][] = broken
    ? [["throttlingException", { message: "Too many requests" }]]
    : [
        ["messageStop", { stopReason: CONVERSE[end] }],
        ["metadata", { usage }],
      ];
  return {
    stream: frames(["messageStart", { role: "assistant" }], ...said, ...rest),
    whole: json({ output: { message: { role: "assistant", content } }, stopReason: CONVERSE[end], usage }),
  };
};

/** For the scripted shapes; Responses is read on its own surface only. */
export const SAYS: Record<"openai" | "claude" | "gemini" | "bedrock", Says> = {
  openai,
  claude,
  gemini,
  bedrock,
};

/** How a surface is requested, and how its client reads an answer. */
export interface SurfaceOf {
  ask(model: string, stream: boolean, offered: readonly string[]): object;
  hear(text: string, stream: boolean): HeardAnswer;
}

const schema = { type: "object", properties: {} };
const turn = { messages: [{ role: "user", content: "Say hello" }], max_tokens: 200 };

const heardChat = (text: string, stream: boolean): HeardAnswer => {
  const heard: HeardAnswer = { reasoning: "", text: "", refusal: "", calls: [], end: "error", usage: null };
  const calls: { name: string; args: string }[] = [];
  const told = stream ? readEvents(text) : null;
  interface Said {
    content?: string | null;
    refusal?: string | null;
    reasoning_content?: string;
    tool_calls?: { index?: number; function: { name?: string; arguments: string } }[];
  }
  type Chosen = { delta?: Said; message?: Said; finish_reason: string | null };
  type Body = { choices?: Chosen[]; usage?: Record<string, number> | null; error?: object };
  const bodies = (told?.chunks ?? [JSON.parse(text)]) as unknown as Body[];
  for (const { choices = [], usage } of bodies) {
    for (const { delta, message, finish_reason: finish } of choices) {
      const said = delta ?? message ?? {};
      heard.text += said.content ?? "";
      heard.refusal += said.refusal ?? "";
      heard.reasoning += said.reasoning_content ?? "";
      for (const [at, { index = at, function: called }] of (said.tool_calls ?? []).entries()) {
        calls[index] ??= { name: called.name ?? "", args: "" };
        calls[index].args += called.arguments;
      }
      if (finish !== null) heard.end = finish as HeardAnswer["end"];
    }
    if (usage) heard.usage = [usage["prompt_tokens"] ?? -1, usage["completion_tokens"] ?? -1];
  }
  if (told !== null) expect(told.done).toBe(heard.end !== "error");
  heard.calls = calls.map(({ name, args }) => ({
    name,
    args: heard.end === "error" ? null : JSON.parse(args),
  }));
  return heard;
};

const STOPS: Record<string, HeardAnswer["end"]> = {
  end_turn: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};
const heardMessage = ({ content, stop_reason: stop, usage }: MessageJson): HeardAnswer => ({
  reasoning: content.map((one) => (one.type === "thinking" ? one.thinking : "")).join(""),
  text: content.map((one) => (one.type === "text" ? one.text : "")).join(""),
  refusal: "",
  calls: content.flatMap((one) => (one.type === "tool_use" ? [{ name: one.name, args: one.input }] : [])),
  end: STOPS[stop ?? ""] ?? "error",
  usage: [usage.input_tokens, usage.output_tokens],
});

const heardResponse = ({ output, status, incomplete_details: cut, usage }: ResponseJson): HeardAnswer => {
  const heard: HeardAnswer = { reasoning: "", text: "", refusal: "", calls: [], end: "error", usage: null };
  for (const item of output) {
    if (item.type === "reasoning") for (const one of item.summary) heard.reasoning += one.text;
    else if (item.type === "message")
      for (const one of item.content) {
        if (one.type === "output_text") heard.text += one.text;
        else heard.refusal += one.refusal;
      }
    else if (item.type === "function_call")
      heard.calls.push({ name: item.name, args: status === "failed" ? null : JSON.parse(item.arguments) });
  }
  if (status === "incomplete") heard.end = cut?.reason === "content_filter" ? "content_filter" : "length";
  else if (status === "completed") heard.end = heard.calls.length > 0 ? "tool_calls" : "stop";
  if (usage !== null) heard.usage = [usage.input_tokens, usage.output_tokens];
  return heard;
};

export const HEARS: Record<"/v1/chat/completions" | "/v1/messages" | "/v1/responses", SurfaceOf> = {
  "/v1/chat/completions": {
    ask: (model, stream, offered) => ({
      model,
      stream,
      ...turn,
      ...(stream && { stream_options: { include_usage: true } }),
      tools: offered.map((name) => ({ type: "function", function: { name, parameters: schema } })),
    }),
    hear: heardChat,
  },
  "/v1/messages": {
    ask: (model, stream, offered) => ({
      model,
      stream,
      ...turn,
      tools: offered.map((name) => ({ name, input_schema: schema })),
    }),
    hear: (text, stream) => {
      if (!stream) return heardMessage(readMessage(text));
      const told = eventsOfMessage(text).map(({ data }) => data);
      if (told.at(-1)?.type !== "error") return heardMessage(finalMessage(told));
      const said = told.flatMap((one) => (one.type === "content_block_delta" ? [one.delta] : []));
      return {
        reasoning: said.map((one) => (one.type === "thinking_delta" ? one.thinking : "")).join(""),
        text: said.map((one) => (one.type === "text_delta" ? one.text : "")).join(""),
        calls: told.flatMap((one) =>
          one.type === "content_block_start" && one.content_block.type === "tool_use"
            ? [{ name: one.content_block.name, args: null }]
            : [],
        ),
        refusal: "",
        end: "error",
        usage: null,
      };
    },
  },
  "/v1/responses": {
    ask: (model, stream, offered) => ({
      model,
      stream,
      input: "Say hello",
      max_output_tokens: 200,
      store: false,
      tools: offered.map((name) => ({ type: "function", name, parameters: schema })),
    }),
    hear: (text, stream) =>
      heardResponse(stream ? readResponseStream(text).final : responseSchema.parse(JSON.parse(text))),
  },
};
