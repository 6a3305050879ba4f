// Requests and answers of the surfaces other than chat completions in the benchmark: the same words and counts as the
// scripts `bench-json-1k` and `bench-sse-50x5`, each in its own shape.
import { PROMPT_TOKENS, SCRIPTS } from "./scripts.ts";

const WORDS = "Durable holds come first, settled sums come last, and no token is paid for twice. ";
const { completionTokens: ANSWER_TOKENS, replyBytes } = SCRIPTS["bench-json-1k"];
/** The text of a whole answer, of about as many bytes as that of chat completions. */
const TEXT = WORDS.repeat(20).slice(0, replyBytes - 400);
const QUESTION = "Say how credits are held before a call and settled after it, briefly.";
/** A vector of this many numbers has about the same number of bytes. */
const DIMENSIONS = 90;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const event = (name: string, value: object): string => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;

/** The start of a stream, each chunk, and the end after `chunks` of them. */
export interface StreamBodies {
  start: Uint8Array;
  /** The chunk after `sent` others. */
  chunk: (sent: number) => Uint8Array;
  end: (chunks: number) => Uint8Array;
}

export interface SurfaceBodies {
  whole: Uint8Array;
  stream: StreamBodies | null;
  /** A request for `model`, without its stream flag. */
  ask: (model: string) => object;
}

const responsesUsage = (outputTokens: number): object => ({
  input_tokens: PROMPT_TOKENS,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: PROMPT_TOKENS + outputTokens,
});

function response(status: string, output: object[], usage: object | null): object {
  return {
    id: "resp_bench",
    object: "response",
    created_at: 1_789_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: "bench",
    output,
    parallel_tool_calls: true,
    temperature: 0.7,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage,
  };
}

const messageItem = (status: string, text: string | null): object => ({
  id: "msg_bench",
  type: "message",
  role: "assistant",
  status,
  content: text === null ? [] : [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

function responsesStream(): StreamBodies {
  const place = { item_id: "msg_bench", output_index: 0, content_index: 0 };
  const part = (text: string): object => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const start = [
    event("response.created", {
      type: "response.created",
      sequence_number: 0,
      response: response("in_progress", [], null),
    }),
    event("response.in_progress", {
      type: "response.in_progress",
      sequence_number: 1,
      response: response("in_progress", [], null),
    }),
    event("response.output_item.added", {
      type: "response.output_item.added",
      sequence_number: 2,
      output_index: 0,
      item: messageItem("in_progress", null),
    }),
    event("response.content_part.added", {
      type: "response.content_part.added",
      sequence_number: 3,
      ...place,
      part: part(""),
    }),
  ];
  const end = (chunks: number): Uint8Array => {
    const text = " durable".repeat(chunks);
    const item = messageItem("completed", text);
    const at = (number: number): object => ({ sequence_number: chunks + 4 + number });
    return bytes(
      event("response.output_text.done", {
        type: "response.output_text.done",
        ...at(0),
        ...place,
        text,
        logprobs: [],
      }) +
        event("response.content_part.done", {
          type: "response.content_part.done",
          ...at(1),
          ...place,
          part: part(text),
        }) +
        event("response.output_item.done", {
          type: "response.output_item.done",
          ...at(2),
          output_index: 0,
          item,
        }) +
        event("response.completed", {
          type: "response.completed",
          ...at(3),
          response: response("completed", [item], responsesUsage(chunks)),
        }),
    );
  };
  // Each has its own number: duplicates would be passed on only once.
  const chunks = Array.from({ length: SCRIPTS["bench-sse-50x5"].chunks }, (_, sent) =>
    bytes(
      event("response.output_text.delta", {
        type: "response.output_text.delta",
        sequence_number: sent + 4,
        ...place,
        delta: " durable",
        logprobs: [],
        obfuscation: "",
      }),
    ),
  );
  return { start: bytes(start.join("")), chunk: (sent) => chunks[sent] ?? new Uint8Array(), end };
}

const messagesUsage = (outputTokens: number): object => ({
  input_tokens: PROMPT_TOKENS,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: outputTokens,
  service_tier: "standard",
});

const message = (content: object[], end: { stop_reason: string | null; output: number }): object => ({
  id: "msg_bench",
  type: "message",
  role: "assistant",
  model: "bench",
  content,
  stop_reason: end.stop_reason,
  stop_sequence: null,
  usage: messagesUsage(end.output),
});

function messagesStream(): StreamBodies {
  const block = { index: 0, content_block: { type: "text", text: "" } };
  const chunk = bytes(
    event("content_block_delta", {
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: " durable" },
    }),
  );
  return {
    start: bytes(
      event("message_start", {
        type: "message_start",
        message: message([], { stop_reason: null, output: 1 }),
      }) + event("content_block_start", { type: "content_block_start", ...block }),
    ),
    chunk: () => chunk,
    end: (chunks) =>
      bytes(
        event("content_block_stop", { type: "content_block_stop", index: 0 }) +
          event("message_delta", {
            type: "message_delta",
            delta: { stop_reason: "end_turn", stop_sequence: null },
            usage: { output_tokens: chunks },
          }) +
          event("message_stop", { type: "message_stop" }),
      ),
  };
}

export const RESPONSES: SurfaceBodies = {
  whole: bytes(
    JSON.stringify(response("completed", [messageItem("completed", TEXT)], responsesUsage(ANSWER_TOKENS))),
  ),
  stream: responsesStream(),
  ask: (model) => ({ model, instructions: "You are brief.", input: QUESTION, temperature: 0.7 }),
};

export const MESSAGES: SurfaceBodies = {
  whole: bytes(
    JSON.stringify(
      message([{ type: "text", text: TEXT }], { stop_reason: "end_turn", output: ANSWER_TOKENS }),
    ),
  ),
  stream: messagesStream(),
  ask: (model) => ({
    model,
    max_tokens: 4096,
    system: "You are brief.",
    messages: [{ role: "user", content: QUESTION }],
    temperature: 0.7,
  }),
};

export const EMBEDDINGS: SurfaceBodies = {
  whole: bytes(
    JSON.stringify({
      object: "list",
      data: [
        {
          object: "embedding",
          index: 0,
          embedding: Array.from({ length: DIMENSIONS }, (_, at) => (at - 45) / 1000),
        },
      ],
      model: "bench",
      usage: { prompt_tokens: PROMPT_TOKENS, total_tokens: PROMPT_TOKENS },
    }),
  ),
  stream: null,
  ask: (model) => ({ model, input: QUESTION }),
};
