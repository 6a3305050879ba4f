// Dialects of the chat-completions shape: what an upstream calls its output maximum, which role and which optional
// fields it knows (providers.md §2). Data only: a provider's configuration names a preset and may override any of it.
import { OPTIONAL_FIELDS, type OptionalField } from "../../domain/request-fields.ts";

export const OUTPUT_MAXIMUMS = ["max_tokens", "max_completion_tokens"] as const;

export interface Dialect {
  /** What the upstream calls its output maximum: the other name is ignored by some, and generation runs on. */
  outputMaximum: (typeof OUTPUT_MAXIMUMS)[number];
  /** Whether it knows the role `developer`; where not, such messages go as `system`. */
  developerRole: boolean;
  /** Whether it reads a `file` part with a PDF in it; where not, the request is refused. */
  files: boolean;
  /** What else it knows; anything else is not sent to it. */
  fields: readonly OptionalField[];
  /** Whether it speaks the Responses shape, too; left out: where its vendor's own address does. */
  responses?: boolean | undefined;
}

const SAMPLING = ["top_p", "frequency_penalty", "presence_penalty"] as const;
const COMMON = [...SAMPLING, "seed", "user", "stream_options", "n", "logprobs", "response_format"] as const;

/** By vendor, from what each publishes of its chat-completions endpoint. `system` is understood by all of them. */
export const DIALECTS = {
  openai: {
    outputMaximum: "max_completion_tokens",
    developerRole: true,
    files: true,
    fields: OPTIONAL_FIELDS,
  },
  deepseek: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...SAMPLING, "stream_options", "logprobs", "response_format"],
  },
  /** Refuses what it does not know with 422; tells usage in a stream unasked. */
  mistral: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...SAMPLING, "parallel_tool_calls", "n", "response_format"],
  },
  groq: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    fields: [...SAMPLING, "seed", "user", "parallel_tool_calls", "stream_options", "response_format"],
  },
  xai: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    fields: [...COMMON, "parallel_tool_calls"],
  },
  openrouter: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: true,
    fields: [...COMMON.filter((field) => field !== "n"), "verbosity", "parallel_tool_calls", "logit_bias"],
  },
  together: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...COMMON, "logit_bias"],
  },
  fireworks: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...COMMON, "logit_bias"],
  },
  moonshot: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    fields: [...SAMPLING, "stream_options", "n", "response_format", "safety_identifier", "prompt_cache_key"],
  },
  /** Refuses penalties, `logit_bias` and `parallel_tool_calls` with 400. */
  cerebras: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    fields: ["top_p", "seed", "user", "stream_options", "logprobs", "response_format"],
  },
  /** Has no tools; tells usage with every chunk, unasked. */
  perplexity: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...SAMPLING, "response_format"],
  },
  ollama: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...SAMPLING, "seed", "stream_options", "logprobs", "response_format"],
  },
  /** Its documents tell of files in the Responses API alone. */
  azure: {
    outputMaximum: "max_completion_tokens",
    developerRole: true,
    files: false,
    fields: OPTIONAL_FIELDS,
  },
  /** Of Google's layer: it refuses names that it does not know with 400. */
  gemini: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: ["top_p", "stream_options", "n", "response_format"],
  },
  bedrock: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    fields: ["top_p", "stream_options", "response_format"],
  },
  vllm: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    fields: [...COMMON, "parallel_tool_calls", "logit_bias"],
  },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;
export const DIALECT_NAMES = Object.keys(DIALECTS) as [DialectName, ...DialectName[]];
