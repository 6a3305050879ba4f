// Dialects of the chat-completions shape: what an upstream calls its output maximum, which role and which optional
// fields it knows (providers.md §2). Data only: a provider's configuration names a preset and may override any of it.
import { OPTIONAL_FIELDS, type OptionalField } from "../../domain/request-fields.ts";

export const OUTPUT_MAXIMUMS = ["max_tokens", "max_completion_tokens"] as const;

/** How a published mode of thinking is said: `reasoning_effort`, `thinking: {type}`, or the one beside the other. */
export const THINKING_WORDS = ["effort", "switch", "switch_and_effort"] as const;
/** On which turns of the model's its thoughts go back, while it thinks: on none, on those with calls, on all. */
export const THOUGHTS = ["never", "calls", "always"] as const;

export interface Dialect {
  /** What the upstream calls its output maximum: the other name is ignored by some, and generation runs on. */
  outputMaximum: (typeof OUTPUT_MAXIMUMS)[number];
  /** Whether it knows the role `developer`; where not, such messages go as `system`. */
  developerRole: boolean;
  /** Whether it reads a `file` part with a PDF in it; where not, the request is refused. */
  files: boolean;
  /** Whether it takes a text in parts; where not, what consists of texts alone goes as one. */
  textParts: boolean;
  thinking: (typeof THINKING_WORDS)[number];
  /** `always` stands for a vendor that refuses a turn without: one whose thoughts were lost gets a blank in their place. */
  thoughts: (typeof THOUGHTS)[number];
  /** Whether it refuses turns in an order that others take, and ids of calls that are not its own (`strict-turns.ts`). */
  strictTurns: boolean;
  /** Whether it tells thoughts as `reasoning_details`, and wants them back with the calls behind them. */
  reasoningDetails: boolean;
  /** What else it knows; anything else is not sent to it. */
  fields: readonly OptionalField[];
  /** Whether it speaks the Responses shape, too; left out: where its vendor's own address does. */
  responses?: boolean | undefined;
}

/** Of most vendors. */
const USUAL = {
  textParts: true,
  thinking: "effort",
  thoughts: "calls",
  strictTurns: false,
  reasoningDetails: false,
} as const;

const SAMPLING = ["top_p", "frequency_penalty", "presence_penalty"] as const;
const COMMON = [...SAMPLING, "seed", "user", "stream_options", "n", "logprobs", "response_format"] as const;

/** By vendor, from what each publishes of its chat-completions endpoint. `system` is understood by all of them. */
export const DIALECTS = {
  openai: {
    outputMaximum: "max_completion_tokens",
    developerRole: true,
    files: true,
    ...USUAL,
    fields: OPTIONAL_FIELDS,
  },
  /** Thinks unless it is told not to. While it does and has tools, it refuses a turn of its own without its thoughts. */
  deepseek: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    textParts: false,
    thinking: "switch_and_effort",
    thoughts: "always",
    fields: [...SAMPLING, "stream_options", "logprobs", "response_format"],
  },
  /** Refuses what it does not know with 422, members of messages, too; tells usage in a stream unasked. */
  mistral: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thoughts: "never",
    strictTurns: true,
    fields: [...SAMPLING, "parallel_tool_calls", "n", "response_format"],
  },
  /** Refuses `reasoning_content` in a message, and instructions in parts, with 400. */
  groq: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    textParts: false,
    thoughts: "never",
    fields: [...SAMPLING, "seed", "user", "parallel_tool_calls", "stream_options", "response_format"],
  },
  xai: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: [...COMMON, "parallel_tool_calls"],
  },
  openrouter: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: true,
    ...USUAL,
    reasoningDetails: true,
    fields: [...COMMON.filter((field) => field !== "n"), "verbosity", "parallel_tool_calls", "logit_bias"],
  },
  together: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: [...COMMON, "logit_bias"],
  },
  fireworks: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: [...COMMON, "logit_bias"],
  },
  /** Like DeepSeek; `kimi-k3` wants an effort in place of the switch (`dialect.thinking`). */
  moonshot: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thinking: "switch",
    thoughts: "always",
    fields: [...SAMPLING, "stream_options", "n", "response_format", "safety_identifier", "prompt_cache_key"],
  },
  /** Refuses penalties, `logit_bias`, `parallel_tool_calls` and `reasoning_content` with 400. */
  cerebras: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thoughts: "never",
    fields: ["top_p", "seed", "user", "stream_options", "logprobs", "response_format"],
  },
  /** Has no tools; tells usage with every chunk, unasked. */
  perplexity: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: [...SAMPLING, "response_format"],
  },
  ollama: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: [...SAMPLING, "seed", "stream_options", "logprobs", "response_format"],
  },
  /** Its documents tell of files in the Responses API alone. */
  azure: {
    outputMaximum: "max_completion_tokens",
    developerRole: true,
    files: false,
    ...USUAL,
    fields: OPTIONAL_FIELDS,
  },
  /** Of Google's layer: it refuses names that it does not know with 400. */
  gemini: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thoughts: "never",
    fields: ["top_p", "stream_options", "n", "response_format"],
  },
  bedrock: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: ["top_p", "stream_options", "response_format"],
  },
  vllm: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    fields: [...COMMON, "parallel_tool_calls", "logit_bias"],
  },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;
export const DIALECT_NAMES = Object.keys(DIALECTS) as [DialectName, ...DialectName[]];
