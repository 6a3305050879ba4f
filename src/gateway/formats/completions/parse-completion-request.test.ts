import { expect, test } from "bun:test";
import { emptyRequest } from "../../../domain/chat-request.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { CHAT_FIELDS } from "../chat-completions/chat-fields.ts";
import { completions } from "./completions.ts";
import { parseCompletionRequest } from "./parse-completion-request.ts";

const ASKED = { model: "plain-1", prompt: "Once upon a time" };
const WHOLE = {
  ...emptyRequest(),
  model: "plain-1",
  messages: [{ role: "user" as const, content: "Once upon a time" }],
};

const refusalOf = (fields: object): [string, string | null] => {
  try {
    parseCompletionRequest({ ...ASKED, ...fields });
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.param];
    throw error;
  }
  throw new Error("it passed");
};

test("a prompt is one chat turn; a list of one string is that string; no maximum is the release's own", () => {
  expect(parseCompletionRequest(ASKED)).toEqual({ request: WHOLE, includeUsage: false });
  expect(parseCompletionRequest({ ...ASKED, prompt: ["Once upon a time"] }).request).toEqual(WHOLE);
});

test("all fields of the vendor's schema are known, accepted or refused by name", () => {
  const values = {
    best_of: 2,
    echo: true,
    frequency_penalty: 0.5,
    logit_bias: { "50256": -100 },
    logprobs: 1,
    max_tokens: 16,
    n: 2,
    presence_penalty: 0.5,
    seed: 1,
    stop: ["\n"],
    stream: true,
    stream_options: { include_usage: true },
    suffix: "end",
    temperature: 0.5,
    top_p: 0.5,
    user: "u",
  };
  const accepted = { ...values, best_of: 1, echo: false, logprobs: null, suffix: "" };
  const { request, includeUsage } = parseCompletionRequest({ ...ASKED, ...accepted });
  expect(includeUsage).toBe(true);
  expect(request).toEqual({
    ...WHOLE,
    maxTokens: 16,
    n: 2,
    stop: ["\n"],
    stream: true,
    temperature: 0.5,
    identifiers: { user: "u" },
    applied: { logit_bias: { "50256": -100 } },
    forwarded: { frequency_penalty: 0.5, presence_penalty: 0.5, seed: 1, top_p: 0.5 },
  });
  for (const [name, code] of [
    ["best_of", "unsupported_value"],
    ["echo", "unsupported_value"],
    ["logprobs", "unsupported_parameter"],
    ["suffix", "unsupported_parameter"],
  ] as const)
    expect(refusalOf({ [name]: values[name] })).toEqual([code, name]);
});

test.each([
  ["token ids", { prompt: [1, 2] }, "raw_token_ids_not_allowed", "prompt"],
  ["lists of token ids", { prompt: [[1, 2]] }, "raw_token_ids_not_allowed", "prompt"],
  ["several prompts", { prompt: ["a", "b"] }, "unsupported_value", "prompt"],
  ["no prompt in a list", { prompt: [] }, "unsupported_value", "prompt"],
  ["an empty prompt", { prompt: "" }, "invalid_request", "prompt"],
  ["a prompt that is no text", { prompt: { text: "a" } }, "invalid_request", "prompt"],
  ["a list of what is no text", { prompt: [{}] }, "invalid_request", "prompt[0]"],
  ["a missing prompt", { prompt: null }, "invalid_request", "prompt"],
  ["a missing model", { model: undefined }, "invalid_request", "model"],
  ["what no model bills for", { max_tokens: 0 }, "integer_below_min_value", "max_tokens"],
  ["options of no stream", { stream_options: {} }, "invalid_request", "stream_options"],
  ["an adapter", { lora: "x" }, "runtime_adapter_not_allowed", "lora"],
  ["ids to stop at", { stop_token_ids: [1] }, "raw_token_ids_not_allowed", "stop_token_ids"],
  ["a name that nobody knows", { promt: "x" }, "unknown_parameter", "promt"],
])("%s: refused by name", (_, fields, code, param) => {
  expect(refusalOf(fields)).toEqual([code, param]);
});

test("what only chat completions take is said to be theirs", () => {
  const own = ["messages", "tools", "response_format", "max_completion_tokens", "store"];
  for (const name of own) {
    expect(CHAT_FIELDS.has(name)).toBe(true);
    expect(refusalOf({ [name]: [1] })).toEqual(["unknown_parameter", name]);
  }
});

const SPELLED_OUT: [name: string, byDefault: unknown, said: unknown][] = [
  ["store", false, true],
  ["metadata", {}, { team: "a" }],
  ["service_tier", "auto", "default"],
  ["tools", [], [{ type: "function", function: { name: "f" } }]],
  ["tool_choice", "auto", "required"],
  ["response_format", { type: "text" }, { type: "json_object" }],
  ["modalities", ["text"], ["text", "audio"]],
  ["parallel_tool_calls", true, false],
  ["verbosity", "medium", "low"],
];

test("a default of chat completions spelled out is accepted like its absence; what says something is not", () => {
  for (const [name, byDefault, said] of SPELLED_OUT) {
    expect(parseCompletionRequest({ ...ASKED, [name]: byDefault })).toEqual({
      request: WHOLE,
      includeUsage: false,
    });
    expect(refusalOf({ [name]: said })).toEqual(["unknown_parameter", name]);
  }
});

test("a provider that names the messages means the prompt", () => {
  expect(completions.sentFields(WHOLE).get("messages")).toBe("prompt");
});
