// A chat completion request after validation (specification 2.1, wire.md §1): the only shape the rooms below ever
// see. `parseChatRequest` in `parse-chat-request.ts` produces it; nothing else constructs one.

export type Role = "system" | "developer" | "user" | "assistant" | "tool";

export type ContentPart =
  | { type: "text"; text: string }
  | { type: "refusal"; refusal: string }
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } };

export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  /** Provider state that must come back (signatures); keyed by provider family. wire.md §8.4 */
  extra_content?: Record<string, unknown>;
}

export interface Message {
  role: Role;
  content: string | ContentPart[] | null;
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  refusal?: string;
  reasoning_content?: string;
}

export interface ToolDefinition {
  type: "function";
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean };
}

export type ToolChoice =
  | "none"
  | "auto"
  | "required"
  | { type: "function"; function: { name: string } }
  | {
      type: "allowed_tools";
      allowed_tools: { mode: "auto" | "required"; tools: { type: "function"; function: { name: string } }[] };
    };

export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | {
      type: "json_schema";
      json_schema: { name: string; description?: string; schema?: Record<string, unknown>; strict?: boolean };
    };

/** What the caller said about thinking, all spellings of wire.md §1.4 reduced to one statement. */
export type ReasoningStatement =
  | { kind: "effort"; effort: string; param: string }
  | { kind: "on"; param: string }
  | { kind: "off"; param: string };

export interface ChatRequest {
  model: string;
  messages: Message[];
  /** The caller's own maximum (`max_tokens` or `max_completion_tokens`), not yet lowered to the release's. */
  maxTokens: number | null;
  tools: ToolDefinition[];
  toolChoice: ToolChoice | null;
  responseFormat: ResponseFormat | null;
  reasoning: ReasoningStatement | null;
  n: number;
  temperature: number | null;
  stop: string[];
  logprobs: boolean;
  topLogprobs: number | null;
  /** Token ids to biases; non-empty. Only a release that publishes the capability gets past `fitToRelease`. */
  logitBias: Record<string, number> | null;
  stream: boolean;
  includeUsage: boolean;
  /** Fields forwarded where the upstream knows them (action F), already range-checked; wire names as keys. */
  forwarded: {
    top_p?: number;
    frequency_penalty?: number;
    presence_penalty?: number;
    seed?: number;
    verbosity?: "low" | "medium" | "high";
    parallel_tool_calls?: boolean;
  };
  /** Caller-chosen identifiers (action F): forwarded only as HMAC(organization, value). */
  identifiers: { user?: string; safety_identifier?: string; prompt_cache_key?: string };
  /** Names of accepted fields that are never forwarded (action I), for `x-gw-ignored-parameters`. */
  ignored: string[];
  /** UTF-8 bytes of everything that reaches the model, and the count of its pieces: input of the prompt bound. */
  promptSize: PromptSize;
}

/** money.md §6: prompt bound = bytes + 8 per message + 16 per tool + 16 per request + images × the release's maximum. */
export interface PromptSize {
  bytes: number;
  messages: number;
  tools: number;
  images: number;
}
