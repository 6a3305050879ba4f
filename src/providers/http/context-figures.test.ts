// Rejections of prompts in vendors' words.
import { expect, test } from "bun:test";
import { Failure } from "../failure.ts";
import { contextFigures } from "./context-figures.ts";
import { failureOfError } from "./errors.ts";

const MESSAGES: [string, object | null][] = [
  ["prompt is too long: 210000 tokens > 200000 maximum", { prompt: 210_000, window: 200_000 }],
  [
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    { prompt: 188_240, completion: 21_333, window: 200_000 },
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8001 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    { prompt: 8001, completion: 1000, window: 8192 },
  ],
  [
    "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.",
    { prompt: 230_462, completion: 32_000, window: 262_144 },
  ],
  [
    "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
    { prompt: 1_200_000, window: 1_048_576 },
  ],
  [
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    { prompt: 40_000, window: 32_768 },
  ],
  [
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    { prompt: 200_000, window: 131_072 },
  ],
  ["prompt token count of 74490 exceeds the limit of 72000", { prompt: 74_490, window: 72_000 }],
  ["Invalid request: Your request exceeded model token limit: 131072", { window: 131_072 }],
  [
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 30000 `inputs` tokens and 4096 `max_new_tokens`",
    { prompt: 30_000, completion: 4096, window: 32_769 },
  ],
  ["Range of input length should be [1, 30720]", { window: 30_720 }],
  ["Input is too long for requested model.", null],
  ["Your input exceeds the context window of this model. Please adjust your input and try again.", null],
];

test.each(MESSAGES)("%s", (message, figures) => {
  expect(contextFigures(message)).toEqual(figures);
  const error = { status: 400, code: "invalid_request_error", message, param: null, retryAfterMs: null };
  const failure = failureOfError(error, []);
  expect(failure).toBeInstanceOf(Failure);
  expect([failure.reason, failure.executed]).toEqual(["context_length", "no"]);
  expect(failure.upstream.context).toEqual((figures ?? undefined) as never);
});
