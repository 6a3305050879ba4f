import { expect, test } from "bun:test";
import { printVectors } from "./answer-body.ts";

const NUMBERS = [1, -0.5, 0.25];
const BASE64 = "AACAPwAAAL8AAIA+";
const head = { requestId: "req_1", created: 1, model: 'm"1' };
const usage = { promptTokens: 3, completionTokens: 0, cachedTokens: null, reasoningTokens: null };

const printed = (embedding: unknown, encoding: "float" | "base64"): unknown =>
  JSON.parse(
    printVectors(
      head,
      { choices: [], usage: null, upstreamId: null, vectors: [JSON.stringify(embedding)] },
      { usage, gateway: `{"a":1}`, encoding },
    ),
  );

test.each([
  ["numbers as numbers", NUMBERS, "float", NUMBERS],
  ["base64 as base64", BASE64, "base64", BASE64],
  ["numbers as base64, of an upstream that knows no other", NUMBERS, "base64", BASE64],
  ["base64 as numbers, of an upstream that knows no other", BASE64, "float", NUMBERS],
] as const)("%s", (_, came, encoding, embedding) => {
  expect(printed(came, encoding)).toEqual({
    object: "list",
    data: [{ object: "embedding", index: 0, embedding }],
    model: 'm"1',
    usage: { prompt_tokens: 3, total_tokens: 3 },
    gateway: { a: 1 },
  });
});
