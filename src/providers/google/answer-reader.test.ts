import { expect, test } from "bun:test";
import type { Part } from "../provider.ts";
import { GeminiReader } from "./answer-reader.ts";
import { candidate, ISSUER, geminiParts, lastUsage } from "./google.fixtures.ts";
import { thrown } from "../http/http.fixtures.ts";

const finishOf = (parts: readonly Part[]): unknown =>
  parts.flatMap((part) => (part.type === "finish" ? [part.reason] : []));

test("thoughts are reasoning, text is text, and what has no place is left out", () => {
  const parts = geminiParts([
    candidate([
      { text: "hm", thought: true },
      { text: "a" },
      { inlineData: { mimeType: "image/png", data: "AA" } },
    ]),
    candidate([{ text: "b", thoughtSignature: "c2ln" }, { executableCode: { code: "1" } }], "STOP"),
  ]);
  expect(parts).toEqual([
    { type: "reasoning", choice: 0, text: "hm" },
    { type: "text", choice: 0, text: "a" },
    { type: "text", choice: 0, text: "b" },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("a call: its signature leaves once, with its first delta, and names who issued it", () => {
  const parts = geminiParts([
    candidate(
      [
        { functionCall: { name: "a", args: { x: [1, { y: "z" }] }, id: "id-1" }, thoughtSignature: "c2ln" },
        { functionCall: { name: "a", args: {}, id: "id-1" } },
      ],
      "STOP",
    ),
  ]);
  expect(parts).toMatchObject([
    {
      type: "tool_call",
      index: 0,
      id: "id-1",
      name: "a",
      extraContent: { google: { thought_signature: "c2ln", issuer: ISSUER } },
    },
    { type: "tool_arguments", index: 0, text: '{"x":[1,{"y":"z"}]}' },
    { type: "tool_call", index: 1, name: "a" },
    { type: "tool_arguments", index: 1, text: "{}" },
    { type: "finish", reason: "tool_calls" },
  ]);
  expect(parts[2]).not.toHaveProperty("extraContent");
  expect(parts[2]).toHaveProperty("id", expect.stringMatching(/^call_/)); // an id is used once
});

test("numbers of arguments leave as they were written, whole or in pieces, also those that no double holds", () => {
  const told = (call: string): string => {
    const event = `{"candidates":[{"content":{"parts":[{"functionCall":${call}}]},"finishReason":"STOP","avgLogprobs":-1.0}]}`;
    const parts: Part[] = [];
    const reader = new GeminiReader({ choices: 1, topLogprobs: null, issuer: () => ISSUER });
    reader.event(event, parts);
    reader.close(parts);
    const whole: Part[] = [];
    new GeminiReader({ choices: 1, topLogprobs: null, issuer: () => ISSUER }).whole(event, whole);
    const [streamed, answered] = [parts, whole].map((all) =>
      all.map((part) => (part.type === "tool_arguments" ? part.text : "")).join(""),
    );
    expect(answered).toStartWith(streamed?.slice(0, -1) ?? "");
    return streamed ?? "";
  };
  const args = '{"id":175928847299117063,"rows":[{"id":-9007199254740993,"n":1}],"x":1e400}';
  expect(told(`{"name":"a","args":${args}}`)).toBe(args);
  const piece = '{"jsonPath":"$.id","numberValue":175928847299117063}';
  expect(told(`{"name":"a","partialArgs":[${piece}]}`)).toBe('{"id":175928847299117063}');
});

test.each<[string, string]>([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["ESCALATION", "content_filter"],
  ["OTHER", "stop"],
  ["SOMETHING_NEW", "stop"],
])("it finishes with %s: %s", (word, reason) => {
  expect(finishOf(geminiParts([candidate([{ text: "a" }], word)]))).toEqual([reason]);
});

test("a call that was filtered or cut is told as that, not as a call", () => {
  const call = { functionCall: { name: "a", args: {} } };
  expect(finishOf(geminiParts([candidate([call], "SAFETY")]))).toEqual(["content_filter"]);
  expect(finishOf(geminiParts([candidate([call], "MAX_TOKENS")]))).toEqual(["length"]);
});

test.each([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
])("%s is a failure of the model", (word) => {
  const failure = thrown(() => geminiParts([candidate([], word)]));
  expect([failure.reason, failure.executed]).toEqual(["no_answer", "unknown"]);
});

test("an account that the vendor has limited is the vendor's failure, not an answer", () => {
  const failure = thrown(() => geminiParts([candidate([], "PUP_LIMITED_DISABLED")]));
  expect([failure.reason, failure.executed]).toEqual(["server", "unknown"]);
});

test("a prompt that was not let through ends every choice, with its usage", () => {
  const blocked = {
    promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
    usageMetadata: { promptTokenCount: 12_559, totalTokenCount: 12_559 },
  };
  const parts = geminiParts([blocked], 2);
  expect(finishOf(parts)).toEqual(["content_filter", "content_filter"]);
  expect(lastUsage(parts)).toMatchObject({ promptTokens: 12_559, completionTokens: 0 });
});

test("choices are told apart by their index, and those that nobody asked for are dropped", () => {
  const both = {
    candidates: [
      { index: 1, content: { parts: [{ text: "b" }] }, finishReason: "STOP" },
      { index: 7, content: { parts: [{ text: "x" }] }, finishReason: "STOP" },
      { index: "0", content: { parts: [{ text: "x" }] } },
      { content: { parts: [{ text: "a" }] }, finishReason: "MAX_TOKENS" },
    ],
  };
  expect(geminiParts([both], 2)).toEqual([
    { type: "text", choice: 1, text: "b" },
    { type: "text", choice: 0, text: "a" },
    { type: "finish", choice: 0, reason: "length" },
    { type: "finish", choice: 1, reason: "stop" },
  ]);
});

test("usage is cumulative: the last word counts, and what was searched is told with it", () => {
  const usage = (candidatesTokenCount: number) => ({
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount },
  });
  const grounded = {
    candidates: [{ groundingMetadata: { webSearchQueries: ["a", "b"] }, finishReason: "STOP" }],
  };
  const parts = geminiParts([usage(1), usage(5), { ...grounded, ...usage(9) }]);
  expect(lastUsage(parts)).toMatchObject({ promptTokens: 10, completionTokens: 9, calls: 2 });
});

test("grounding becomes citations, each once, at the end", () => {
  const metadata = {
    groundingChunks: [{ web: { uri: "https://a.example/", title: "A" } }, { retrievedContext: {} }],
    groundingSupports: [
      { segment: { startIndex: 0, endIndex: 4 }, groundingChunkIndices: [0, 1] },
      { segment: { endIndex: 9 }, groundingChunkIndices: [0, "x"] },
    ],
  };
  const told = { candidates: [{ content: { parts: [{ text: "told text" }] }, groundingMetadata: metadata }] };
  const annotations = geminiParts([told, told, candidate([], "STOP")]).filter(
    ({ type }) => type === "annotations",
  );
  const cited = (start_index: number, end_index: number) => ({
    type: "url_citation",
    url_citation: { start_index, end_index, url: "https://a.example/", title: "A" },
  });
  expect(annotations).toEqual([
    { type: "annotations", choice: 0, annotations: [cited(0, 4), cited(0, 9)] },
  ] as unknown as Part[]);
});

test.each(["ünd so", "a\u00a0b c", "a 😀"])(
  "places in bytes are told only where bytes are characters: %s",
  (text) => {
    const metadata = {
      groundingChunks: [{ web: { uri: "https://a.example/" } }],
      groundingSupports: [{ segment: { startIndex: 3, endIndex: 6 }, groundingChunkIndices: [0] }],
    };
    const content = { parts: [{ text }] };
    const [annotations] = geminiParts([
      { candidates: [{ content, groundingMetadata: metadata, finishReason: "STOP" }] },
    ]).filter(({ type }) => type === "annotations");
    expect(annotations).toMatchObject({
      annotations: [{ url_citation: { start_index: 0, end_index: 0, title: "" } }],
    });
  },
);

test("arguments that nobody named break the answer, and the end of a call that nobody began is nothing", () => {
  expect(thrown(() => geminiParts([candidate([{ functionCall: { args: { a: 1 } } }])])).reason).toBe(
    "broken",
  );
  expect(geminiParts([candidate([{ functionCall: {} }], "STOP")])).toEqual([
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("a call that was cut by the ceiling is told as far as it came; one that only lacks its end is closed", () => {
  const begun = candidate([
    {
      functionCall: {
        name: "a",
        partialArgs: [{ jsonPath: "$.x", stringValue: "y", willContinue: true }],
        willContinue: true,
      },
    },
  ]);
  const text = (parts: Part[]): string =>
    parts.flatMap((part) => (part.type === "tool_arguments" ? [part.text] : [])).join("");
  expect(text(geminiParts([begun, candidate([], "MAX_TOKENS")]))).toBe('{"x":"y');
  expect(text(geminiParts([begun, candidate([], "STOP")]))).toBe('{"x":"y"}');
});

const reader = (): GeminiReader => new GeminiReader({ choices: 1, topLogprobs: null, issuer: () => ISSUER });

test("an error inside a stream is told by its own words, in a list or not", () => {
  const error = { error: { code: 503, status: "UNAVAILABLE", message: "overloaded" } };
  for (const data of [JSON.stringify(error), JSON.stringify([error])])
    expect(reader().event(data, [])).toMatchObject({
      status: 503,
      code: "UNAVAILABLE",
      message: "overloaded",
    });
  expect(reader().event("[DONE]", [])).toBe("done");
  expect(thrown(() => reader().event("[1]", [])).reason).toBe("broken");
  expect(thrown(() => reader().event('{"a', [])).reason).toBe("broken");
});

test("a whole body ends by itself; one with an error, or of another shape, is none", () => {
  const parts: Part[] = [];
  const one = reader();
  one.whole(JSON.stringify(candidate([{ text: "a" }])), parts);
  expect(one.complete).toBe(true);
  expect(thrown(() => reader().whole('{"error":{"code":400}}', [])).executed).toBe("unknown");
  const other = reader();
  other.whole('{"choices":[{"message":{"content":"a"}}]}', []);
  expect(other.complete).toBe(false);
});
