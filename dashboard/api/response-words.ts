// Translates a request of the page to a Responses request, and that surface's answers back.
import type { ChatBody, Chunk, Message } from "./chat.ts";
import { type CallPlaces, functionsOf, said, systemOf, type Words } from "./words.ts";

export const responseWords: Words = {
  body: responseBody,
  event: responseEvent,
  whole: responseWhole,
};

function responseBody(request: ChatBody): object {
  return {
    model: request.model,
    instructions: systemOf(request),
    input: request.messages.flatMap(inputOf),
    max_output_tokens: request.max_tokens,
    ...(request.reasoning_effort !== undefined && {
      reasoning: { effort: request.reasoning_effort, summary: "auto" },
    }),
    ...(request.tools !== undefined && {
      tools: functionsOf(request).map((one) => ({ type: "function", strict: false, ...one })),
    }),
    store: false,
    stream: request.stream,
  };
}

function inputOf(message: Message): object[] {
  if (message.role === "system") return [];
  if (message.role === "tool")
    return [{ type: "function_call_output", call_id: message.tool_call_id, output: message.content }];
  const { role, content } = message;
  const calls = role === "assistant" ? (message.tool_calls ?? []) : [];
  return [
    ...(content === null ? [] : [{ role, content }]),
    ...calls.map(({ id, function: called }) => ({ type: "function_call", call_id: id, ...called })),
  ];
}

interface ResponseJson {
  status: string;
  output: {
    type: string;
    content?: { text?: string; refusal?: string }[];
    summary?: { text: string }[];
    call_id?: string;
    name?: string;
    arguments?: string;
  }[];
  usage: {
    input_tokens: number;
    input_tokens_details: { cached_tokens: number };
    output_tokens: number;
    output_tokens_details: { reasoning_tokens: number };
  } | null;
  gateway?: NonNullable<Chunk["gateway"]>;
  error: Chunk["error"] | null;
  incomplete_details: { reason: string } | null;
}

interface ResponseEvent {
  type: string;
  delta?: string;
  output_index?: number;
  item?: ResponseJson["output"][number];
  response?: ResponseJson;
}

function responseEvent(data: unknown, calls: CallPlaces): Chunk {
  const { type, delta = "", output_index: index = 0, item, response } = data as ResponseEvent;
  switch (type) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      return said({ content: delta });
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return said({ reasoning_content: delta });
    case "response.output_item.added":
      return item?.type === "function_call"
        ? calls.said(index, { id: item.call_id ?? "", name: item.name ?? "" })
        : {};
    case "response.function_call_arguments.delta":
      return calls.said(index, { arguments: delta });
    default:
      return response === undefined || response.status === "in_progress" ? {} : responseEnd(response);
  }
}

function responseWhole(answer: unknown): Chunk {
  const response = answer as ResponseJson;
  const of = (type: string) => response.output.filter((item) => item.type === type);
  const message = {
    content: of("message")
      .flatMap(({ content = [] }) => content.map(({ text, refusal }) => text ?? refusal ?? ""))
      .join(""),
    reasoning_content: of("reasoning")
      .flatMap(({ summary = [] }) => summary.map(({ text }) => text))
      .join(""),
    tool_calls: of("function_call").map(({ call_id: id = "", name = "", arguments: text = "" }) => ({
      id,
      function: { name, arguments: text },
    })),
  };
  const [end] = responseEnd(response).choices ?? [];
  return { ...responseEnd(response), choices: [{ ...end, message }] };
}

function responseEnd({ status, usage, gateway, error, incomplete_details: cut }: ResponseJson): Chunk {
  const reason = cut === null ? "stop" : cut.reason === "max_output_tokens" ? "length" : cut.reason;
  return {
    ...(gateway !== undefined && { gateway }),
    ...(error && { error }),
    ...(usage !== null && {
      usage: {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        prompt_tokens_details: usage.input_tokens_details,
        completion_tokens_details: usage.output_tokens_details,
      },
    }),
    ...(status !== "failed" && { choices: [{ finish_reason: reason }] }),
  };
}
