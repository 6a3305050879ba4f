// Turns a decoded body into a ChatRequest of one user turn, or refuses its first wrong field. Fields shared with chat completions
// are read by the same readers.
import { isDeepStrictEqual } from "node:util";
import { type ChatRequest, emptyRequest } from "../../../domain/chat-request.ts";
import {
  invalid,
  isPresent,
  readBoolean,
  readInteger,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { objectBody, requireFields, unknownField } from "../../../domain/request-body.ts";
import { CHAT_FIELDS, type Draft, type FieldReader } from "../chat-completions/chat-fields.ts";
import { isArrayOfIntegers, rawTokenIds } from "../chat-completions/parse-content.ts";
import { reduceThinking } from "../chat-completions/parse-thinking.ts";
import { REFUSED_FIELDS, saysNothing } from "../chat-completions/refused-fields.ts";

export interface ParsedCompletion {
  request: ChatRequest;
  /** A stream ends with a usage chunk. */
  includeUsage: boolean;
}

/** Fields of this surface with the same meaning as in chat completions. */
const SHARED = new Set(
  `model max_tokens n temperature top_p stop stream stream_options seed presence_penalty frequency_penalty logit_bias
  user reasoning_effort`.split(/\s+/),
);

/** Fields of this surface alone. Values equal to the documented default leave no trace, because wrappers send them unasked. */
const OWN: Record<string, FieldReader> = {
  prompt: ({ request }, value) => {
    request.messages = [{ role: "user", content: promptOf(value) }];
  },
  suffix: (_draft, value) => {
    if (readString(value, null, "suffix") === "") return;
    const text = "is not supported: a model continues a prompt and does not fill the gap between two texts.";
    throw refuse("unsupported_parameter", null, "suffix", `${text} Remove it.`);
  },
  echo: (_draft, value) => {
    if (!readBoolean(value, null, "echo")) return;
    throw refuse("unsupported_value", null, "echo", "must be false: answers do not include the prompt.");
  },
  best_of: (_draft, value) => {
    if (readInteger(value, null, "best_of") === 1) return;
    const text =
      "must be 1: everything that is generated is returned and charged. Use `n` for several answers.";
    throw refuse("unsupported_value", null, "best_of", text);
  },
  logprobs: () => {
    const text = "is not supported on this surface. Use `logprobs` of /v1/chat/completions.";
    throw refuse("unsupported_parameter", null, "logprobs", text);
  },
};

const FIELDS: ReadonlyMap<string, FieldReader> = new Map([
  ...[...CHAT_FIELDS].filter(([name]) => SHARED.has(name)),
  ...Object.entries(OWN),
]);

const REQUIRED = ["model", "prompt"] as const;

/** Reads a decoded body. Throws a Refusal with `param` for the first invalid field, in body order. */
export function parseCompletionRequest(decoded: unknown): ParsedCompletion {
  const body = objectBody(decoded);
  const draft = emptyDraft();
  for (const name of Object.keys(body)) readField(draft, name, body[name]);
  requireFields(body, REQUIRED);
  const { request, includeUsage } = draft;
  if (isPresent(body["stream_options"]) && !request.stream)
    throw invalid(null, "stream_options", 'is only allowed with "stream": true. Remove it, or set stream.');
  request.reasoning = reduceThinking(draft.thinking);
  return { request, includeUsage };
}

const emptyDraft = (): Draft => ({ request: emptyRequest(), thinking: [], includeUsage: false });

function readField(draft: Draft, name: string, value: unknown): void {
  const read = FIELDS.get(name);
  if (read === undefined) return refuseField(name, value);
  if (isPresent(value)) read(draft, value);
}

/** Refuses with the code of the field's family; a field of chat completions only is called that. */
function refuseField(name: string, value: unknown): void {
  const theirs = CHAT_FIELDS.get(name);
  if (theirs !== undefined) {
    if (!isPresent(value) || leavesNoTrace(theirs, name, value)) return;
    throw refuse(
      "unknown_parameter",
      null,
      name,
      "is not a parameter here. Use /v1/chat/completions for it.",
    );
  }
  const refused = REFUSED_FIELDS.get(name);
  if (refused === undefined) throw unknownField(name);
  if (!saysNothing(value, refused)) throw refuse(refused.code, null, name, refused.text);
}

/** Defaults of `tool_choice` without tools, whose reader waits for them, and of `text`, which an answer is anyway. */
const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["tool_choice", ["none", "auto"]],
  ["response_format", [{ type: "text" }]],
]);

/** A default of chat completions, spelled out by a wrapper that sends the same to both. */
function leavesNoTrace(read: FieldReader, name: string, value: unknown): boolean {
  const defaults = DEFAULTS.get(name);
  if (defaults !== undefined) return saysNothing(value, { defaults });
  const draft = emptyDraft();
  try {
    read(draft, value);
  } catch (error) {
    if (error instanceof Refusal) return false; // refused all the same, as an unknown field
    throw error;
  }
  return isDeepStrictEqual(draft, emptyDraft());
}

/** One prompt is one call, one charge: a list of one string counts as that string. */
function promptOf(value: unknown): string {
  const [first, ...others]: unknown[] = Array.isArray(value) ? value : [value];
  if (isArrayOfIntegers(value) || isArrayOfIntegers(first)) throw rawTokenIds(null, "prompt");
  if (Array.isArray(value) && (others.length > 0 || value.length === 0))
    throw refuse("unsupported_value", null, "prompt", "may have only one prompt. Send one request for each.");
  const prompt = Array.isArray(value)
    ? readString(first, { parent: null, step: "prompt" }, 0)
    : readString(value, null, "prompt");
  if (prompt !== "") return prompt;
  throw invalid(null, "prompt", "must not be empty.");
}
