// One streamed chat completion of the playground, read as it comes: what was held, each part, what it cost.
import type { GatewayObject } from "../../src/contract/gateway-object.ts";
import { ApiError, open } from "./client.ts";
import { eventsOf } from "./event-stream.ts";
import { api } from "./paths.ts";

export interface Paying {
  org: string;
  /** The key that pays, by id. */
  key: string;
}

export type CompletionEvent =
  | { kind: "admitted"; requestId: string | null; heldUsd: string | null }
  | { kind: "part"; content: string; reasoning: string }
  | { kind: "ended"; finishReason: string | null; usage: Usage | null; gateway: Settled | null };

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
}
/** `cost` is left out while the request runs. */
export type Settled = Omit<GatewayObject, "cost"> & { cost?: GatewayObject["cost"] };

interface Chunk {
  choices?: {
    delta?: { content?: string | null; reasoning_content?: string | null; tool_calls?: ToolCallPart[] };
    finish_reason?: string | null;
  }[];
  usage?: Usage | null;
  gateway?: Settled;
  error?: { message: string; code: string; param: string | null; request_id: string };
}
interface ToolCallPart {
  function?: { name?: string; arguments?: string };
}

export async function* complete(
  { org, key }: Paying,
  { request, idempotencyKey, signal }: { request: object; idempotencyKey: string; signal: AbortSignal },
): AsyncGenerator<CompletionEvent> {
  const response = await open(api.playground(org), {
    method: "POST",
    signal,
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify({
      key,
      request: { ...request, stream: true, stream_options: { include_usage: true } },
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
  for await (const data of eventsOf(response)) {
    const { choices = [], usage, gateway, error } = JSON.parse(data) as Chunk;
    if (gateway !== undefined) end.gateway = gateway;
    if (error !== undefined) throw errorOf(error, response.status);
    if (usage) end.usage = usage;
    for (const { delta, finish_reason } of choices) {
      if (finish_reason) end.finishReason = finish_reason;
      const content = (delta?.content ?? "") + (delta?.tool_calls ?? []).map(printCall).join("");
      const reasoning = delta?.reasoning_content ?? "";
      if (content !== "" || reasoning !== "") yield { kind: "part", content, reasoning };
    }
  }
  yield end;
}

const printCall = ({ function: called }: ToolCallPart): string =>
  `${called?.name === undefined ? "" : `\n${called.name} `}${called?.arguments ?? ""}`;

const errorOf = (error: NonNullable<Chunk["error"]>, status: number): ApiError =>
  new ApiError({ ...error, status, requestId: error.request_id });
