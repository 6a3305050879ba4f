import { expect, test } from "bun:test";
import { CHAT_FIELDS } from "./chat-fields.ts";
import { bodyWith, parsed, tool, user } from "./chat-request.fixtures.ts";
import { parseChatRequest } from "./parse-chat-request.ts";
import { REFUSED_FIELDS } from "./refused-fields.ts";
import { sentFields } from "./sent-fields.ts";
import { FIELD_SAMPLES } from "../../../domain/request-fields.fixtures.ts";

test("all 37 fields of OpenAI's schema are known, accepted or refused by name", () => {
  const fields =
    `model messages max_tokens max_completion_tokens reasoning_effort tools tool_choice response_format n
    temperature top_p frequency_penalty presence_penalty seed verbosity parallel_tool_calls stop logprobs top_logprobs
    logit_bias stream stream_options user safety_identifier prompt_cache_key metadata service_tier store modalities
    prompt_cache_retention prompt_cache_options audio prediction web_search_options moderation functions
    function_call`.split(/\s+/);
  expect(fields).toHaveLength(37);
  for (const name of fields)
    expect([name, CHAT_FIELDS.has(name) !== REFUSED_FIELDS.has(name)]).toEqual([name, true]);
});

test("the smallest body is a request with every default", () => {
  const { request, includeUsage } = parseChatRequest(bodyWith());
  expect(includeUsage).toBe(false);
  expect(request).toEqual({
    model: "base-preview-v1",
    messages: [{ role: "user", content: "Hello" }],
    maxTokens: null,
    tools: [],
    toolChoice: null,
    responseFormat: null,
    reasoning: null,
    keepThoughts: false,
    n: 1,
    temperature: null,
    stop: [],
    stream: false,
    applied: {},
    forwarded: {},
    identifiers: {},
    ignored: [],
    images: 0,
    files: 0,
    native: null,
    written: null,
  });
});

test("null and documented defaults are the same as leaving the field out", () => {
  const plain = parsed(bodyWith());
  const defaults = {
    n: 1,
    store: false,
    modalities: ["text"],
    tools: [],
    stop: [],
    stream: false,
    response_format: { type: "text" },
    service_tier: "auto",
    metadata: {},
    tool_choice: "auto",
    top_logprobs: 0,
    thinking: {},
    reasoning: { exclude: false },
  };
  for (const [name, value] of Object.entries(defaults))
    expect([name, parsed(bodyWith({ [name]: value }))]).toEqual([name, plain]);
  for (const [name, { silent }] of FIELD_SAMPLES)
    for (const value of silent) expect([name, parsed(bodyWith({ [name]: value }))]).toEqual([name, plain]);
  for (const name of CHAT_FIELDS.keys())
    if (name !== "model" && name !== "messages")
      expect([name, parsed(bodyWith({ [name]: null }))]).toEqual([name, plain]);
});

for (const [name, { held, given, beside }] of FIELD_SAMPLES)
  test(`${name} arrives as it was given, and is told of where a provider may see it so`, () => {
    const request = parsed(bodyWith({ [name]: given, ...beside }));
    expect(request[held]).toHaveProperty(name, given);
    expect(sentFields(request).has(name)).toBe(held !== "identifiers");
    expect(sentFields(parsed(bodyWith(beside))).has(name)).toBeFalse();
  });

test("each field that has a place of its own arrives there, and all others in the caller's order", () => {
  const samples = FIELD_SAMPLES.toReversed().map(([name, { given }]) => [name, given] as const);
  const { request, includeUsage } = parseChatRequest(
    bodyWith({
      max_tokens: 1.0,
      max_completion_tokens: 1,
      tools: [tool()],
      tool_choice: "required",
      response_format: {
        type: "json_schema",
        json_schema: { name: "a-1", schema: { type: "object" }, strict: true },
      },
      n: 3,
      temperature: 0,
      stop: "END",
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: true },
      ...Object.fromEntries(samples),
      metadata: { a: "b" },
      service_tier: "default",
      prompt_cache_retention: "24h",
      prompt_cache_options: { ttl: 1 },
    }),
  );
  expect(request).toMatchObject({
    maxTokens: 1,
    toolChoice: "required",
    responseFormat: {
      type: "json_schema",
      json_schema: { name: "a-1", schema: { type: "object" }, strict: true },
    },
    n: 3,
    temperature: 0,
    stop: ["END"],
    stream: true,
  });
  expect(includeUsage).toBe(true);
  const { forwarded, identifiers, applied } = request;
  expect({ ...forwarded, ...identifiers, ...applied }).toEqual(Object.fromEntries(samples));
  const inOrder = Object.keys(Object.fromEntries(samples)).filter((name) => name in forwarded);
  expect(Object.keys(forwarded)).toEqual(inOrder);
  expect(request.ignored).toEqual([
    "stream_options.include_obfuscation",
    "metadata",
    "service_tier",
    "prompt_cache_retention",
    "prompt_cache_options",
  ]);
});

test("fields may come in any order, also tool_choice before tools and stream_options before stream", () => {
  const body = {
    tool_choice: "required",
    stream_options: {},
    messages: [user()],
    tools: [tool()],
    stream: true,
    model: "m",
  };
  expect(parseChatRequest(body)).toMatchObject({
    request: { toolChoice: "required", stream: true },
    includeUsage: false,
  });
});

test("a huge max_tokens is a valid bound here; the window decides about it later", () => {
  expect(parsed(bodyWith({ max_tokens: 2 ** 31 })).maxTokens).toBe(2 ** 31);
});
