// One chat completion of the playground, read as it comes: what was held, each part, what it cost.
import type { GatewayObject } from "../../src/domain/gateway-object.ts";
import { ApiError, open } from "./client.ts";
import { eventsOf } from "./event-stream.ts";
import { addressOf } from "./routes.ts";

interface Paying {
  org: string;
  /** The key that pays, by id. */
  key: string;
}

/** A body of POST /v1/chat/completions, as far as the dashboard fills it in. */
export interface ChatBody {
  model: string;
  messages: readonly Message[];
  stream: boolean;
  max_tokens?: number;
  reasoning_effort?: string;
  tools?: readonly object[];
}

export type Message =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: readonly ToolCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type CompletionEvent =
  | { kind: "admitted"; requestId: string | null; heldUsd: string | null }
  | { kind: "part"; content: string; reasoning: string; calls: readonly ToolCallPart[] }
  | { kind: "ended"; finishReason: string | null; usage: Usage | null; gateway: Settled | null };

/** A piece of a tool call; `index` says of which. */
export interface ToolCallPart {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
}
/** `cost` is left out while the request runs. */
export type Settled = Omit<GatewayObject, "cost"> & { cost?: GatewayObject["cost"] };

interface Said {
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: readonly ToolCallPart[];
}

/** An event of a stream, or the whole answer: the one says `delta`, the other `message`. */
interface Chunk {
  choices?: { delta?: Said; message?: Said; finish_reason?: string | null }[];
  usage?: Usage | null;
  gateway?: Settled;
  error?: { message: string; code: string; param: string | null; request_id: string };
}

interface Terms {
  request: ChatBody;
  signal: AbortSignal;
}

/** Without an `Idempotency-Key`: with one, a request that is stopped would run to its end and be paid whole. */
export async function* complete(
  { org, key }: Paying,
  { request, signal }: Terms,
): AsyncGenerator<CompletionEvent> {
  const response = await open(addressOf("POST /orgs/{org}/playground", { org }), {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      key,
      request: { ...request, ...(request.stream && { stream_options: { include_usage: true } }) },
    }),
  });
  yield {
    kind: "admitted",
    requestId: response.headers.get("x-request-id"),
    heldUsd: response.headers.get("x-gw-hold-usd"),
  };
  const end: Extract<CompletionEvent, { kind: "ended" }> = {
    kind: "ended",
    finishReason: null,
    usage: null,
    gateway: null,
  };
  for await (const { choices = [], usage, gateway, error } of chunksOf(response, request.stream)) {
    if (gateway !== undefined) end.gateway = gateway;
    if (error !== undefined) throw errorOf(error, response.status);
    if (usage) end.usage = usage;
    for (const { delta, message, finish_reason } of choices) {
      if (finish_reason) end.finishReason = finish_reason;
      const said = delta ?? message;
      const content = said?.content ?? "";
      const reasoning = said?.reasoning_content ?? "";
      const calls = said?.tool_calls ?? [];
      if (content !== "" || reasoning !== "" || calls.length > 0)
        yield { kind: "part", content, reasoning, calls };
    }
  }
  yield end;
}

async function* chunksOf(response: Response, streamed: boolean): AsyncGenerator<Chunk> {
  if (streamed) for await (const data of eventsOf(response)) yield JSON.parse(data) as Chunk;
  else yield (await response.json()) as Chunk;
}

const errorOf = (error: NonNullable<Chunk["error"]>, status: number): ApiError =>
  new ApiError({ ...error, status, requestId: error.request_id });
