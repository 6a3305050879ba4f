// What a Responses request says to any provider in addition to its conversation, and what only upstreams of its own shape get.
import { expect, test } from "bun:test";
import { Refusal } from "../../../domain/refusals.ts";
import { parseResponseRequest } from "./parse-response-request.ts";
import { BASE, look, read } from "./response-request.fixtures.ts";

test("what only this shape says is named where another serves, and what says nothing is not", () => {
  const dropped = (also: object): unknown => read(also).native?.dropped;
  expect(dropped({ stream_options: { include_obfuscation: true } })).toEqual([
    "stream_options.include_obfuscation",
  ]);
  expect(dropped({ truncation: "auto" })).toEqual(["truncation"]);
  expect(dropped({ reasoning: { context: "auto" } })).toEqual(["reasoning.context"]);
  const usual = { stream_options: { include_obfuscation: false }, truncation: "disabled" };
  expect(dropped({ ...usual, text: { verbosity: "medium" } })).toEqual([]);
  expect(read({ text: { verbosity: "medium" } }).forwarded).toEqual({});
  for (const name of [
    "max_tool_calls",
    "prompt_cache_retention",
    "prompt_cache_options",
    "client_metadata",
  ]) {
    const { ignored, native } = read({ [name]: 1 });
    expect([ignored, native?.body]).toEqual([[name], BASE]);
  }
  const { ignored, native } = read({ service_tier: "default" });
  expect([ignored, native?.body]).toEqual([["service_tier"], BASE]);
});

test("the forms of text, thinking and sampling are those of every surface", () => {
  const schema = { type: "object" };
  const request = read({
    text: { format: { type: "json_schema", name: "a", schema, strict: true }, verbosity: "low" },
    reasoning: { effort: "high", summary: "auto" },
    max_output_tokens: 9,
    temperature: 0.5,
    top_p: 0.5,
    parallel_tool_calls: false,
    include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    top_logprobs: 2,
    prompt_cache_key: "k",
    stream: true,
    store: false,
    previous_response_id: null,
    service_tier: "auto",
    tools: [look],
    tool_choice: { type: "function", name: "look" },
  });
  expect(request).toMatchObject({
    responseFormat: { type: "json_schema", json_schema: { name: "a", schema, strict: true } },
    reasoning: { kind: "effort", effort: "high", param: "reasoning.effort" },
    maxTokens: 9,
    temperature: 0.5,
    forwarded: { top_p: 0.5, verbosity: "low", parallel_tool_calls: false },
    applied: { logprobs: true, top_logprobs: 2 },
    identifiers: { prompt_cache_key: "k" },
    stream: true,
    toolChoice: { type: "function", function: { name: "look" } },
    ignored: [],
  });
});

test("what is unknown goes through to this shape alone; what routes, costs or is stored goes nowhere", () => {
  const sent = { ...BASE, future: { b: 1, a: 2 }, metadata: { x: "y" }, client_metadata: { id: "z" } };
  const { ignored, native } = parseResponseRequest(sent).request;
  expect(ignored).toEqual(["metadata", "client_metadata"]);
  expect(native?.dropped).toEqual(["future"]);
  expect(JSON.stringify(native?.body)).toBe('{"model":"m","input":"Hi","future":{"b":1,"a":2}}');
  expect(native?.only).toBeNull();
});

test("a body that is no object is refused", () => {
  expect(() => parseResponseRequest([])).toThrow(Refusal);
});
