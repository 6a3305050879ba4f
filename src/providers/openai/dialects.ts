// Dialects of the chat-completions shape: what an upstream calls its output maximum, and which role and optional
// fields it knows (providers.md §2). Data only: a provider's configuration names a preset and may override any of it.
import { OPTIONAL_FIELDS, type OptionalField } from "../../domain/request-fields.ts";

export const OUTPUT_MAXIMUMS = ["max_tokens", "max_completion_tokens"] as const;

/** How a published thinking mode is sent: `reasoning_effort`, `thinking: {type}`, both, or not at all, as the model always thinks. */
export const THINKING_WORDS = ["effort", "switch", "switch_and_effort", "fixed"] as const;
/** The turns of the model on which its thoughts are sent back while it thinks: none, those with calls, all. */
export const THOUGHTS = ["never", "calls", "always"] as const;

export interface Dialect {
  /** The upstream's name for its output maximum; some ignore the other name, and generation runs on. */
  outputMaximum: (typeof OUTPUT_MAXIMUMS)[number];
  /** True if it knows the role `developer`; otherwise such messages are sent as `system`. */
  developerRole: boolean;
  /** True if it reads a `file` part with a PDF in it; otherwise the request is refused. */
  files: boolean;
  /** True if it accepts a text in parts; otherwise content of texts alone is sent as one. */
  textParts: boolean;
  thinking: (typeof THINKING_WORDS)[number];
  /**
   * `always` is for a vendor that rejects a turn without thoughts: one whose thoughts were lost gets a blank in their
   * place; if the release has no modes, only a turn with calls does.
   */
  thoughts: (typeof THOUGHTS)[number];
  /** True if it rejects turns in an order that others accept, and call ids that are not its own (`strict-turns.ts`). */
  strictTurns: boolean;
  /** True if it sends thoughts as `reasoning_details`, and wants them back with the calls that follow them. */
  reasoningDetails: boolean;
  /** The other fields that it knows; no others are sent. */
  fields: readonly OptionalField[];
  /** True if it also supports the Responses shape; absent: if its vendor's own address does. */
  responses?: boolean | undefined;
  /** Models of the vendor that differ from it, found by how their names begin; the first one counts. */
  models?: readonly ModelTraits[];
  /** True if it can keep the thoughts of all turns (`thinking.keep`). */
  keepsThoughts?: boolean;
  /** True if it rejects a temperature and other sampling fields with values that are not its own. */
  ownSampling?: boolean;
}

/** The points that depend on the model at some vendors. */
type ModelPoints = Pick<Dialect, "thinking" | "thoughts" | "keepsThoughts" | "ownSampling">;
interface ModelTraits extends Partial<ModelPoints> {
  /** How the upstream's names of the models begin. */
  names: readonly string[];
}

/** Returns the dialect as one model of the vendor speaks it. */
export function dialectOfModel(dialect: Dialect, upstreamModel: string): Dialect {
  const traits = dialect.models?.find(({ names }) => names.some((name) => upstreamModel.startsWith(name)));
  return traits === undefined ? dialect : { ...dialect, ...traits };
}

/** The values of most vendors. */
const USUAL = {
  textParts: true,
  thinking: "effort",
  thoughts: "calls",
  strictTurns: false,
  reasoningDetails: false,
} as const;

const SAMPLING = ["top_p", "frequency_penalty", "presence_penalty"] as const;
const COMMON = [...SAMPLING, "seed", "user", "stream_options", "n", "logprobs", "response_format"] as const;

/** By vendor, from what each publishes of its chat-completions endpoint. All of them understand `system`. */
export const DIALECTS = {
  openai: {
    outputMaximum: "max_completion_tokens",
    developerRole: true,
    files: true,
    ...USUAL,
    fields: OPTIONAL_FIELDS,
  },
  /** Thinks unless told not to. While it thinks and has tools, it rejects an assistant's turn without its thoughts. */
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
  /** Rejects what it does not know with 422, even members of messages; sends usage in a stream unasked. */
  mistral: {
    outputMaximum: "max_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thoughts: "never",
    strictTurns: true,
    fields: [...SAMPLING, "parallel_tool_calls", "n", "response_format"],
  },
  /** Rejects `reasoning_content` in a message, and instructions in parts, with 400. */
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
  /**
   * Like DeepSeek, where the model thinks: it rejects a turn with calls that lacks its thoughts. It has values of its own
   * for temperature and the like, which it demands.
   */
  moonshot: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thinking: "switch",
    thoughts: "always",
    fields: [...SAMPLING, "stream_options", "n", "response_format", "safety_identifier", "prompt_cache_key"],
    models: [
      { names: ["kimi-k3"], thinking: "effort" },
      { names: ["kimi-k2.7-code"], thinking: "fixed", ownSampling: true },
      { names: ["kimi-k2-thinking"], thinking: "fixed" },
      { names: ["kimi-k2.6"], keepsThoughts: true, ownSampling: true },
      { names: ["kimi-k2.5"], ownSampling: true },
      { names: ["kimi-k2-", "moonshot-v1"], thoughts: "never" },
    ],
  },
  /** Rejects penalties, `logit_bias`, `parallel_tool_calls` and `reasoning_content` with 400. */
  cerebras: {
    outputMaximum: "max_completion_tokens",
    developerRole: false,
    files: false,
    ...USUAL,
    thoughts: "never",
    fields: ["top_p", "seed", "user", "stream_options", "logprobs", "response_format"],
  },
  /** Has no tools; sends usage with every chunk, unasked. */
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
  /** Its documentation mentions files only in the Responses API. */
  azure: {
    outputMaximum: "max_completion_tokens",
    developerRole: true,
    files: false,
    ...USUAL,
    fields: OPTIONAL_FIELDS,
  },
  /** Google's compatible layer, which rejects unknown names with 400. */
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
