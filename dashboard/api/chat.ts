// A request of the playground and the parts of its answer, in the vocabulary of chat completions, which the page
// uses.
import type { GatewayObject } from "../../src/domain/gateway-object.ts";

/** The body of POST /v1/chat/completions, as far as the dashboard fills it in. */
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

/** A piece of a tool call; `index` identifies the call. */
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
/** `cost` is missing while the request runs. */
export type Settled = Omit<GatewayObject, "cost"> & { cost?: GatewayObject["cost"] };

export interface Said {
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: readonly ToolCallPart[];
}

/** An event of a stream, or the whole answer: the former has `delta`, the latter `message`. */
export interface Chunk {
  choices?: { delta?: Said; message?: Said; finish_reason?: string | null }[];
  usage?: Usage | null;
  gateway?: Settled;
  error?: { message: string; code: string; param: string | null; request_id?: string };
}
