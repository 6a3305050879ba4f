// The accepted top-level fields of a chat completion (wire.md §1.1 and §1.4), one reader each: it checks a value that
// is present and puts it where it belongs. Values equal to the documented default leave no trace, because wrappers
// send them unasked.
import type { ChatRequest } from "../../../domain/chat-request.ts";
import { parseMessages } from "./parse-messages.ts";
import {
  countMetadata,
  parseLogitBias,
  parseModel,
  parseStop,
  parseStreamOptions,
  requireTextModality,
} from "./parse-plain-fields.ts";
import { parseResponseFormat } from "./parse-response-format.ts";
import { readThinkingField, THINKING_FIELDS, type ThinkingStatement } from "./parse-thinking.ts";
import { parseTools } from "./parse-tools.ts";
import {
  invalid,
  type Range,
  readBoolean,
  readBoundedString,
  readChoice,
  readInteger,
  readNumber,
  refuse,
  requireRange,
} from "../../../domain/read-value.ts";

const MAX_IDENTIFIER_LENGTH = 512;

/** A request under way: fields arrive in the order of the body. */
export interface Draft {
  request: ChatRequest;
  thinking: ThinkingStatement[];
  /** `stream_options.include_usage`. */
  includeUsage: boolean;
}

/** Reads one present value into the draft; throws a Refusal with `param`. */
export type FieldReader = (draft: Draft, value: unknown) => void;

const read: Record<string, FieldReader> = {
  model: ({ request }, value) => {
    request.model = parseModel(value);
  },
  messages: ({ request }, value) => {
    request.messages = parseMessages(value);
  },
  max_tokens: maxTokens("max_tokens"),
  max_completion_tokens: maxTokens("max_completion_tokens"),
  tools: ({ request }, value) => {
    request.tools = parseTools(value);
  },
  /** Needs the tools, which may follow it in the body: `parseChatRequest` reads it at the end. */
  tool_choice: () => undefined,
  response_format: ({ request }, value) => {
    request.responseFormat = parseResponseFormat(value);
  },
  n: ({ request }, value) => {
    request.n = readInteger(value, null, "n");
    if (request.n < 1) throw refuse("unsupported_value", null, "n", "must be at least 1.");
  },
  temperature: ({ request }, value) => {
    request.temperature = readNumber(value, null, "temperature");
    requireRange(request.temperature, { min: 0, max: 2 }, "decimal", "temperature");
  },
  top_p: decimal("top_p", { min: 0, max: 1 }, 1),
  frequency_penalty: decimal("frequency_penalty", { min: -2, max: 2 }, 0),
  presence_penalty: decimal("presence_penalty", { min: -2, max: 2 }, 0),
  seed: ({ request }, value) => {
    request.forwarded.seed = readInteger(value, null, "seed");
  },
  verbosity: ({ request }, value) => {
    const verbosity = readChoice(value, ["low", "medium", "high"], null, "verbosity");
    if (verbosity !== "medium") request.forwarded.verbosity = verbosity;
  },
  parallel_tool_calls: ({ request }, value) => {
    if (!readBoolean(value, null, "parallel_tool_calls")) request.forwarded.parallel_tool_calls = false;
  },
  stop: ({ request }, value) => {
    request.stop = parseStop(value);
  },
  logprobs: ({ request }, value) => {
    request.logprobs = readBoolean(value, null, "logprobs");
  },
  top_logprobs: ({ request }, value) => {
    request.topLogprobs = readInteger(value, null, "top_logprobs");
    requireRange(request.topLogprobs, { min: 0, max: 20 }, "integer", "top_logprobs");
  },
  logit_bias: ({ request }, value) => {
    request.logitBias = parseLogitBias(value);
  },
  stream: ({ request }, value) => {
    request.stream = readBoolean(value, null, "stream");
  },
  stream_options: (draft, value) => {
    const { includeUsage, obfuscation } = parseStreamOptions(value);
    draft.includeUsage = includeUsage;
    if (obfuscation) draft.request.ignored.push("stream_options.include_obfuscation");
  },
  user: identifier("user"),
  safety_identifier: identifier("safety_identifier"),
  prompt_cache_key: identifier("prompt_cache_key"),
  metadata: ({ request }, value) => {
    if (countMetadata(value) > 0) request.ignored.push("metadata");
  },
  service_tier: ({ request }, value) => {
    const tier = readChoice(value, ["auto", "default"], null, "service_tier");
    if (tier !== "auto") request.ignored.push("service_tier");
  },
  store: (_draft, value) => {
    if (!readBoolean(value, null, "store")) return;
    throw refuse(
      "unsupported_value",
      null,
      "store",
      "must be false: answers are not stored for later retrieval.",
    );
  },
  modalities: (_draft, value) => requireTextModality(value),
  prompt_cache_retention: ignored("prompt_cache_retention"),
  prompt_cache_options: ignored("prompt_cache_options"),
  ...Object.fromEntries(THINKING_FIELDS.map((name) => [name, thinking(name)])),
};

/** By name; a map, because an object would also know `constructor` and its kin. */
export const CHAT_FIELDS: ReadonlyMap<string, FieldReader> = new Map(Object.entries(read));

function maxTokens(name: string): FieldReader {
  return ({ request }, value) => {
    const tokens = readInteger(value, null, name);
    requireRange(tokens, { min: 1, max: Number.MAX_SAFE_INTEGER }, "integer", name);
    if (request.maxTokens !== null && request.maxTokens !== tokens)
      throw invalid(null, "max_tokens", "differs from `max_completion_tokens`. Send one of them.");
    request.maxTokens = tokens;
  };
}

function decimal(
  name: "top_p" | "frequency_penalty" | "presence_penalty",
  range: Range,
  documentedDefault: number,
): FieldReader {
  return ({ request }, value) => {
    const number = readNumber(value, null, name);
    requireRange(number, range, "decimal", name);
    if (number !== documentedDefault) request.forwarded[name] = number;
  };
}

function identifier(name: "user" | "safety_identifier" | "prompt_cache_key"): FieldReader {
  return ({ request }, value) => {
    request.identifiers[name] = readBoundedString(value, null, name, MAX_IDENTIFIER_LENGTH);
  };
}

function ignored(name: string): FieldReader {
  return ({ request }) => {
    request.ignored.push(name);
  };
}

function thinking(name: string): FieldReader {
  return (draft, value) => readThinkingField(name, value, draft.thinking);
}
