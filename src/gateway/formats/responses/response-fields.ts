// The accepted top-level fields of a Responses request, one reader each, which checks a present value and stores it. An upstream of
// this very shape gets the caller's own body, without the fields dropped here.
import type { ChatRequest, ReasoningStatement } from "../../../domain/chat-request.ts";
import { REQUEST_FIELDS } from "../../../domain/request-fields.ts";
import {
  isPresent,
  type JsonObject,
  type Place,
  readArray,
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  readObject,
  readString,
  refuse,
  requireRange,
} from "../../../domain/read-value.ts";
import { countMetadata, parseModel, requireNoPrewarming } from "../chat-completions/parse-plain-fields.ts";
import { OF_SCHEMA, readJsonSchema, readResponseFormat } from "../chat-completions/parse-response-format.ts";
import { unreadMembers } from "../unread-members.ts";
import { NO_TOOLS, parseOfferedTools, type ToolList } from "./offered-tools.ts";
import { NO_INPUT, type ParsedInput, parseInput } from "./parse-input.ts";

/** A request being read: fields arrive in the order of the body. */
export interface ResponseDraft {
  request: ChatRequest;
  input: ParsedInput;
  instructions: string | null;
  offered: ToolList;
  /** Log probabilities were asked for. */
  logprobs: boolean;
  topLogprobs: number | null;
  /** Top-level fields that are not sent. */
  dropped: string[];
  /** Fields that are sent only to upstreams of this shape. */
  untranslated: string[];
}

/** The draft before any field was read; `request` is filled in. */
export const emptyDraft = (request: ChatRequest): ResponseDraft => ({
  request,
  input: NO_INPUT,
  instructions: null,
  offered: NO_TOOLS,
  logprobs: false,
  topLogprobs: null,
  dropped: [],
  untranslated: [],
});

/** Reads one present value into the draft; throws a Refusal with `param`. */
type ResponseFieldReader = (draft: ResponseDraft, value: unknown) => void;

const TEXT: Place = { parent: null, step: "text" };
const FORMAT: Place = { parent: TEXT, step: "format" };
const REASONING: Place = { parent: null, step: "reasoning" };
const INCLUDE: Place = { parent: null, step: "include" };
/** `context` cannot be expressed in another shape. */
const OF_REASONING = ["effort", "summary", "generate_summary", "mode"] as const;
const SUMMARIES = ["auto", "concise", "detailed"] as const;
const INCLUDABLE = [
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "message.input_image.image_url",
  "web_search_call.results",
  "web_search_call.action.sources",
  "file_search_call.results",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
] as const;

const own: Record<string, ResponseFieldReader> = {
  model: ({ request }, value) => {
    request.model = parseModel(value);
  },
  input: (draft, value) => {
    draft.input = parseInput(value);
    draft.request.ignored.push(...draft.input.ignored);
    draft.untranslated.push(...draft.input.untranslated);
  },
  instructions: (draft, value) => {
    draft.instructions = readString(value, null, "instructions");
  },
  max_output_tokens: ({ request }, value) => {
    request.maxTokens = readInteger(value, null, "max_output_tokens");
    requireRange(request.maxTokens, { min: 1, max: Number.MAX_SAFE_INTEGER }, "integer", "max_output_tokens");
  },
  temperature: ({ request }, value) => {
    request.temperature = readNumber(value, null, "temperature");
    requireRange(request.temperature, { min: 0, max: 2 }, "decimal", "temperature");
  },
  tools: (draft, value) => {
    draft.offered = parseOfferedTools(value);
    if (draft.offered.dropped.length > 0) draft.request.ignored.push("tools.web_search");
    if (draft.offered.searched) draft.untranslated.push("tools.tool_search");
  },
  /** Needs the tools, which may follow it in the body. */
  tool_choice: () => undefined,
  text: ({ request, untranslated }, value) => {
    const text = readObject(value, null, "text");
    untranslated.push(...unreadMembers("text", text, ["format", "verbosity"]));
    if (isPresent(text.format)) {
      const format = readObject(text.format, TEXT, "format");
      untranslated.push(...unreadMembers("text.format", format, ["type", ...OF_SCHEMA]));
      request.responseFormat = readResponseFormat(format, FORMAT, (given) => readJsonSchema(given, FORMAT));
    }
    if (!isPresent(text.verbosity)) return;
    const verbosity = readChoice(text.verbosity, ["low", "medium", "high"], TEXT, "verbosity");
    if (verbosity !== "medium") request.forwarded.verbosity = verbosity;
  },
  reasoning: ({ request, untranslated }, value) => {
    request.reasoning = readReasoning(readObject(value, null, "reasoning"), untranslated);
  },
  include: (draft, value) => {
    for (const [index, name] of readArray(value, null, "include").entries())
      if (readChoice(name, INCLUDABLE, INCLUDE, index) === "message.output_text.logprobs")
        draft.logprobs = true;
  },
  top_logprobs: (draft, value) => {
    draft.topLogprobs = readInteger(value, null, "top_logprobs");
    requireRange(draft.topLogprobs, { min: 0, max: 20 }, "integer", "top_logprobs");
  },
  stream: ({ request }, value) => {
    request.stream = readBoolean(value, null, "stream");
  },
  stream_options: ({ untranslated }, value) => {
    const options = readObject(value, null, "stream_options");
    const { include_obfuscation: obfuscation } = options;
    untranslated.push(...unreadMembers("stream_options", options, ["include_obfuscation"]));
    const at: Place = { parent: null, step: "stream_options" };
    if (isPresent(obfuscation) && readBoolean(obfuscation, at, "include_obfuscation"))
      untranslated.push("stream_options.include_obfuscation");
  },
  truncation: ({ untranslated }, value) => {
    if (readChoice(value, ["auto", "disabled"], null, "truncation") === "auto")
      untranslated.push("truncation");
  },
  store: (_draft, value) => {
    if (!readBoolean(value, null, "store")) return;
    const text = "must be false: answers are not stored. Send the whole conversation as `input` items.";
    throw refuse("unsupported_value", null, "store", text);
  },
  background: (_draft, value) => {
    if (!readBoolean(value, null, "background")) return;
    const text =
      "must be false: answers are not stored, so a background answer could not be fetched. Use `stream: true`.";
    throw refuse("unsupported_value", null, "background", text);
  },
  service_tier: ({ request, dropped }, value) => {
    const tier = readChoice(value, ["auto", "default"], null, "service_tier");
    dropped.push("service_tier");
    if (tier !== "auto") request.ignored.push("service_tier");
  },
  metadata: ({ request, dropped }, value) => {
    dropped.push("metadata");
    if (countMetadata(value) > 0) request.ignored.push("metadata");
  },
  client_metadata: ignored("client_metadata"),
  max_tool_calls: ignored("max_tool_calls"),
  prompt_cache_retention: ignored("prompt_cache_retention"),
  prompt_cache_options: ({ request, dropped }, value) => {
    requireNoPrewarming(value);
    dropped.push("prompt_cache_options");
    request.ignored.push("prompt_cache_options");
  },
};

const PLAIN = new Set(["top_p", "parallel_tool_calls", "user", "safety_identifier", "prompt_cache_key"]);

/** By name; a map, because an object would also have `constructor` and the like. */
export const RESPONSE_FIELDS: ReadonlyMap<string, ResponseFieldReader> = new Map([
  ...Object.entries(own),
  ...REQUEST_FIELDS.flatMap(([name, row]) => plain(name, row)),
]);

function plain(
  name: string,
  { held, read }: (typeof REQUEST_FIELDS)[number][1],
): [string, ResponseFieldReader][] {
  if (held === null || read === undefined || !PLAIN.has(name)) return [];
  const reader: ResponseFieldReader = ({ request }, value) => {
    const said = read(value, name);
    if (said !== undefined) Object.assign(request[held], { [name]: said });
  };
  return [[name, reader]];
}

/** Accepted, but neither translated nor sent on. */
function ignored(name: string): ResponseFieldReader {
  return ({ request, dropped }) => {
    dropped.push(name);
    request.ignored.push(name);
  };
}

/** How much to think. How it is summarized is up to each provider, and needs no translation. */
function readReasoning(given: JsonObject, untranslated: string[]): ReasoningStatement | null {
  for (const name of ["summary", "generate_summary"])
    if (isPresent(given[name])) readChoice(given[name], SUMMARIES, REASONING, name);
  if (isPresent(given.mode)) readChoice(given.mode, ["standard"], REASONING, "mode");
  untranslated.push(...unreadMembers("reasoning", given, OF_REASONING));
  if (!isPresent(given.effort)) return null;
  return { kind: "effort", effort: readString(given.effort, REASONING, "effort"), param: "reasoning.effort" };
}
