// Translates a request of the page to a Messages request, and that surface's answers back.
import type { ChatBody, Chunk, Message, Usage } from "./chat.ts";
import { type CallPlaces, functionsOf, said, systemOf, type Words } from "./words.ts";

export const messageWords: Words = {
  body: messageBody,
  event: messageEvent,
  whole: messageWhole,
};

function messageBody(request: ChatBody): object {
  return {
    model: request.model,
    max_tokens: request.max_tokens,
    system: systemOf(request),
    messages: request.messages.flatMap(turnOf),
    ...(request.reasoning_effort !== undefined && { output_config: { effort: request.reasoning_effort } }),
    ...(request.tools !== undefined && {
      tools: functionsOf(request).map(({ parameters = { type: "object" }, ...one }) => ({
        ...one,
        input_schema: parameters,
      })),
    }),
    stream: request.stream,
  };
}

function turnOf(message: Message): object[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [message];
    case "tool": {
      const result = { type: "tool_result", tool_use_id: message.tool_call_id, content: message.content };
      return [{ role: "user", content: [result] }];
    }
    case "assistant": {
      const text = message.content === null ? [] : [{ type: "text", text: message.content }];
      const uses = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
        type: "tool_use",
        id,
        name,
        input: inputOf(input),
      }));
      return [{ role: "assistant", content: [...text, ...uses] }];
    }
  }
}

/** Arguments are an object here: empty for a call without any, and the raw text in a member if the call was cut. */
function inputOf(text: string): object {
  try {
    const input: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return input;
    return { arguments: text };
  } catch {
    return { arguments: text };
  }
}

interface Block {
  type: string;
  id?: string;
  name?: string;
  text?: string;
  thinking?: string;
  input?: unknown;
}

interface MessageJson {
  content: Block[];
  stop_reason: string | null;
  usage: MessageUsage;
  gateway?: NonNullable<Chunk["gateway"]>;
}

interface MessageUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  output_tokens_details?: { thinking_tokens: number };
}

interface MessageEvent {
  type: string;
  index?: number;
  content_block?: Block;
  delta?: { type: string; text?: string; thinking?: string; partial_json?: string; stop_reason?: string };
  message?: MessageJson;
  usage?: MessageUsage;
  gateway?: NonNullable<Chunk["gateway"]>;
  error?: Chunk["error"];
}

function messageEvent(data: unknown, calls: CallPlaces): Chunk {
  const {
    type,
    index = 0,
    content_block: block,
    delta,
    message,
    usage,
    gateway,
    error,
  } = data as MessageEvent;
  const told = message?.gateway ?? gateway;
  const beside = { ...(told !== undefined && { gateway: told }), ...(error !== undefined && { error }) };
  switch (type) {
    case "content_block_start":
      return block?.type === "tool_use"
        ? calls.said(index, { id: block.id ?? "", name: block.name ?? "" })
        : {};
    case "content_block_delta":
      if (delta?.partial_json !== undefined) return calls.said(index, { arguments: delta.partial_json });
      return said({ content: delta?.text ?? "", reasoning_content: delta?.thinking ?? "" });
    case "message_delta":
      return { ...beside, ...messageEnd(delta?.stop_reason ?? null, usage) };
    default:
      return beside;
  }
}

function messageWhole(answer: unknown): Chunk {
  const { content, stop_reason: reason, usage, gateway } = answer as MessageJson;
  const message = {
    content: content.map(({ text = "" }) => text).join(""),
    reasoning_content: content.map(({ thinking = "" }) => thinking).join(""),
    tool_calls: content
      .filter(({ type }) => type === "tool_use")
      .map(({ id = "", name = "", input }) => ({ id, function: { name, arguments: JSON.stringify(input) } })),
  };
  const end = messageEnd(reason, usage);
  const [finish] = end.choices ?? [];
  return { ...end, ...(gateway !== undefined && { gateway }), choices: [{ ...finish, message }] };
}

const STOPS: Record<string, string> = { end_turn: "stop", tool_use: "tool_calls", max_tokens: "length" };

const messageEnd = (reason: string | null, usage: MessageUsage | undefined): Chunk => ({
  ...(reason !== null && { choices: [{ finish_reason: STOPS[reason] ?? reason }] }),
  ...(usage !== undefined && { usage: usageOf(usage) }),
});

/** Messages reports cache reads and writes beside `input_tokens`, chat completions include them. */
const usageOf = (usage: MessageUsage): Usage => ({
  prompt_tokens: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
  completion_tokens: usage.output_tokens,
  prompt_tokens_details: { cached_tokens: usage.cache_read_input_tokens },
  ...(usage.output_tokens_details !== undefined && {
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details.thinking_tokens },
  }),
});
