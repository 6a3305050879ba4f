// A request after validation (specification 2.1, wire.md §1): the only shape that the layers below a format see. A format's `parse`
// builds it from `emptyRequest`; nothing else constructs one.
import type { NativeBody } from "./native-body.ts";
import type { FieldsHeld } from "./request-fields.ts";
import type { WrittenLists } from "./written-lists.ts";

export type Role = "system" | "developer" | "user" | "assistant" | "tool";

/** How closely a provider looks at an image. Whichever it is, the release's `image_tokens_max` bounds each image. */
export type ImageDetail = "auto" | "low" | "high" | "original";

/** A caller's mark that the prompt up to here shall be kept in the provider's cache. Only some upstreams support it. */
export interface CacheMark {
  type: "ephemeral";
  ttl?: "5m" | "1h";
}

export type ContentPart =
  | { type: "text"; text: string; cache_control?: CacheMark }
  | { type: "refusal"; refusal: string }
  | { type: "image_url"; image_url: { url: string; detail?: ImageDetail }; cache_control?: CacheMark }
  | { type: "file"; file: InlineFile; cache_control?: CacheMark };

/** A PDF that came with the request: `file_data` is `INLINE_PDF` and its bytes in base64 (`inline-pdf.ts`). */
export interface InlineFile {
  filename: string;
  file_data: string;
}

/** One tool call by the model; `arguments` is the text as the model wrote it, JSON or not. */
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
  /** Of a tool result: the content describes an error. Only some upstreams support it. */
  failed?: true;
  refusal?: string;
  reasoning_content?: string;
}

export interface ToolDefinition {
  type: "function";
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean };
  cache_control?: CacheMark;
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
export type ReasoningStatement = (
  | { kind: "effort"; effort: string; param: string }
  | { kind: "on"; param: string }
  | { kind: "off"; param: string }
) & {
  /** Sent whatever the model: ignored where a release publishes no modes; without an effort the release's default applies. */
  hint?: true;
};

/** Every field is present: what a caller left out is null, empty or its default. */
export interface ChatRequest {
  model: string;
  messages: Message[];
  /** The caller's own maximum (`max_tokens` or `max_completion_tokens`), not yet lowered to the release's. */
  maxTokens: number | null;
  tools: ToolDefinition[];
  toolChoice: ToolChoice | null;
  responseFormat: ResponseFormat | null;
  reasoning: ReasoningStatement | null;
  /** True if the model is to be shown its thoughts of all earlier turns (`thinking.keep`), where it can be. */
  keepThoughts: boolean;
  n: number;
  temperature: number | null;
  stop: string[];
  stream: boolean;
  /** Fields that change the answer (action V), by wire name. `fitToRelease` refuses them unless the release offers them. */
  applied: FieldsHeld<"applied">;
  /** Fields forwarded to upstreams that support them (action F), by wire name. */
  forwarded: FieldsHeld<"forwarded">;
  /** Identifiers chosen by the caller (action F), by wire name: forwarded only as HMAC(organization, value). */
  identifiers: FieldsHeld<"identifiers">;
  /** Names of accepted fields that are never forwarded (action I), for `x-gw-ignored-parameters`. */
  ignored: string[];
  /** The number of images in the messages. */
  images: number;
  /** The number of files. */
  files: number;
  /** The request as its caller wrote it, if some upstream speaks that shape itself; null: translate it. */
  native: NativeBody | null;
  /** The lists of a large body, until it has been sent; null: everything is printed. */
  written: WrittenLists | null;
}

/** An empty request: every field at its default. */
export const emptyRequest = (): ChatRequest => ({
  model: "",
  messages: [],
  maxTokens: null,
  tools: [],
  toolChoice: null,
  responseFormat: null,
  reasoning: null,
  keepThoughts: false,
  n: 1,
  temperature: null,
  stop: [],
  stream: false,
  applied: {},
  forwarded: {},
  identifiers: {},
  ignored: [],
  images: 0,
  files: 0,
  native: null,
  written: null,
});

/** Counts the parts of a conversation that are bounded by a flat maximum each. */
export function countAttachments(messages: readonly Message[]): Pick<ChatRequest, "images" | "files"> {
  let images = 0;
  let files = 0;
  for (const { content } of messages)
    if (Array.isArray(content))
      for (const { type } of content) {
        if (type === "image_url") images += 1;
        if (type === "file") files += 1;
      }
  return { images, files };
}

/** True for an inline image, which needs no permission from the release. */
export const isInlineImage = (url: string): boolean => /^data:/i.test(url);
