import { expect, test } from "bun:test";
import { Failure } from "../failure.ts";
import { EmbeddingsReader } from "./embeddings.ts";
import { vectorsIn } from "./vectors.ts";
import type { Part } from "../provider.ts";

const entry = (embedding: unknown, index: unknown = 0): object => ({ object: "embedding", index, embedding });
const body = (...data: unknown[]): string => JSON.stringify({ object: "list", data, model: "m" });

test("each vector is the text that it came as, at the place that its entry names or stands at", () => {
  const text = `{"data" : [{"embedding" : [ 1e-7, -0.5 ,2E+3,0 ],"index":1},{"index":0,"embedding":"AACAPw=="}],"usage":{"a":[1]}}`;
  expect(vectorsIn(text, 2)).toEqual({
    list: ['"AACAPw=="', "[ 1e-7, -0.5 ,2E+3,0 ]"],
    body: {
      data: [
        { embedding: 0, index: 1 },
        { index: 0, embedding: 1 },
      ],
      usage: { a: [1] },
    },
  });
  expect(vectorsIn(`{"data":[{"embedding":[1]},{"embedding":[2]}]}`, 2).list).toEqual(["[1]", "[2]"]);
});

test.each([
  ["no JSON", `{"data":[`, 1],
  ["a list", `[1]`, 1],
  ["no vectors", `{"data":null}`, 1],
  ["one too few", body(entry([1])), 2],
  ["one too many", body(entry([1]), entry([2], 1)), 1],
  ["one place twice", body(entry([1]), entry([2])), 2],
  ["a place that nobody asked for", body(entry([1], 1)), 1],
  ["a place between two", body(entry([1], 0.5)), 1],
  ["a place below all", body(entry([1], -1)), 1],
  ["a vector of nothing", body(entry([])), 1],
  ["a vector of words", body(entry(["a"])), 1],
  ["a vector of vectors", body(entry([[1], [2]])), 1],
  ["a number", body(entry(1)), 1],
  ["null", body(entry(null)), 1],
  ["a text that is no base64", body(entry("a b")), 1],
  ["a text with an escape", `{"data":[{"embedding":"a\\"b"}]}`, 1],
  ["numbers that are none", `{"data":[{"embedding":[1,,2]}]}`, 1],
  ["a number with a leading zero", `{"data":[{"embedding":[01]}]}`, 1],
  ["a list that ends in a comma", `{"data":[{"embedding":[1,]}]}`, 1],
  ["a list without an end", `{"data":[{"embedding":[1,2`, 1],
  ["a vector in a vector", `{"data":[{"embedding":[{"embedding":[1]}]}]}`, 1],
  ["an error", `{"error":{"message":"no"},"data":[{"embedding":[1]}]}`, 1],
])("an answer with %s is broken", (_, text, count) => {
  expect(() => vectorsIn(text, count)).toThrow(Failure);
});

test("an answer of more vectors than were asked for is not read to its end", () => {
  expect(() => vectorsIn(`{"data":[{"embedding":[1]},{"embedding":[2]},{"embedding"`, 1)).toThrow(
    "more vectors than 1",
  );
});

const usageIn = (usage: unknown): unknown[] => {
  const reader = new EmbeddingsReader(1);
  const parts: Part[] = [];
  reader.whole(JSON.stringify({ id: "emb-1", data: [entry([1])], usage }), parts);
  expect([reader.complete, reader.id, reader.usageTold]).toEqual([true, "emb-1", parts.length > 0]);
  reader.close(parts);
  expect(parts.pop()).toEqual({ type: "finish", choice: 0, reason: "stop" });
  return parts.map((part) => part.type === "usage" && [part.usage.promptTokens, part.usage.completionTokens]);
};

test("its usage is what went in, however it is told; what it tells of an output is nothing", () => {
  expect(usageIn({ prompt_tokens: 8, total_tokens: 8 })).toEqual([[8, 0]]);
  expect(usageIn({ total_tokens: 7 })).toEqual([[7, 0]]);
  expect(usageIn({ prompt_tokens: 6, total_tokens: 500, completion_tokens: 494 })).toEqual([[6, 0]]);
  for (const nothing of [null, undefined, "8", {}, { prompt_tokens: -1 }, { prompt_tokens: "8" }])
    expect(usageIn(nothing)).toEqual([]);
});
