// The accepted top-level fields of a chat completion (wire.md §1.1 and §1.4), one reader each, which checks a present value and
// stores it. Plain fields are rows of `domain/request-fields.ts`. Values equal to the documented default leave no trace, because
// wrappers send them unasked.
import type { ChatRequest } from "../../../domain/chat-request.ts";
import { REQUEST_FIELDS } from "../../../domain/request-fields.ts";
import { parseMessages } from "./parse-messages.ts";
import {
  countMetadata,
  parseModel,
  parseStop,
  parseStreamOptions,
  requireNoPrewarming,
  requireTextModality,
} from "./parse-plain-fields.ts";
import { parseResponseFormat } from "./parse-response-format.ts";
import {
  keepsAllThoughts,
  readThinkingField,
  THINKING_FIELDS,
  type ThinkingStatement,
} from "./parse-thinking.ts";
import { parseTools } from "./parse-tools.ts";
import {
  invalid,
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  refuse,
  requireRange,
} from "../../../domain/read-value.ts";

/** A request being read: fields arrive in the order of the body. */
export interface Draft {
  request: ChatRequest;
  thinking: ThinkingStatement[];
  /** `stream_options.include_usage`. */
  includeUsage: boolean;
}

/** Reads one present value into the draft; throws a Refusal with `param`. */
export type FieldReader = (draft: Draft, value: unknown) => void;

/** Fields with a structure or a meaning of their own in this format. */
const own: Record<string, FieldReader> = {
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
    const { format, ignored } = parseResponseFormat(value);
    request.responseFormat = format;
    request.ignored.push(...ignored);
  },
  n: ({ request }, value) => {
    request.n = readInteger(value, null, "n");
    if (request.n < 1) throw refuse("unsupported_value", null, "n", "must be at least 1.");
  },
  temperature: ({ request }, value) => {
    request.temperature = readNumber(value, null, "temperature");
    requireRange(request.temperature, { min: 0, max: 2 }, "decimal", "temperature");
  },
  stop: ({ request }, value) => {
    request.stop = parseStop(value);
  },
  stream: ({ request }, value) => {
    request.stream = readBoolean(value, null, "stream");
  },
  stream_options: (draft, value) => {
    const { includeUsage, ignored } = parseStreamOptions(value);
    draft.includeUsage = includeUsage;
    draft.request.ignored.push(...ignored);
  },
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
  prompt_cache_options: ({ request }, value) => {
    requireNoPrewarming(value);
    request.ignored.push("prompt_cache_options");
  },
  ...Object.fromEntries(THINKING_FIELDS.map((name) => [name, thinking(name)])),
};

/** By name; a map, because an object would also have `constructor` and the like. */
export const CHAT_FIELDS: ReadonlyMap<string, FieldReader> = new Map([
  ...Object.entries(own),
  ...REQUEST_FIELDS.flatMap(([name, row]) => plain(name, row)),
]);

/** A plain field of every format, read as its row says. */
function plain(name: string, { held, read }: (typeof REQUEST_FIELDS)[number][1]): [string, FieldReader][] {
  if (held === null || read === undefined) return [];
  const reader: FieldReader = ({ request }, value) => {
    const said = read(value, name);
    if (said !== undefined) Object.assign(request[held], { [name]: said });
  };
  return [[name, reader]];
}

function maxTokens(name: string): FieldReader {
  return ({ request }, value) => {
    const tokens = readInteger(value, null, name);
    requireRange(tokens, { min: 1, max: Number.MAX_SAFE_INTEGER }, "integer", name);
    if (request.maxTokens !== null && request.maxTokens !== tokens)
      throw invalid(null, "max_tokens", "differs from `max_completion_tokens`. Send only one of them.");
    request.maxTokens = tokens;
  };
}

function ignored(name: string): FieldReader {
  return ({ request }) => {
    request.ignored.push(name);
  };
}

function thinking(name: string): FieldReader {
  return ({ request, thinking }, value) => {
    request.ignored.push(...readThinkingField(name, value, thinking));
    if (keepsAllThoughts(name, value)) request.keepThoughts = true;
  };
}
