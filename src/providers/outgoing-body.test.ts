import { expect, test } from "bun:test";
import type { ChatRequest } from "../contract/chat-request.ts";
import { type BodyOptions, outgoingBody } from "./outgoing-body.ts";
import { chatRequest, providerCall } from "./provider.fixtures.ts";
import type { ProviderCall } from "./provider.ts";

const bodyOf = (
  request: Partial<ChatRequest> = {},
  call: Partial<ProviderCall> = {},
  options: Partial<BodyOptions> = {},
): Record<string, unknown> =>
  JSON.parse(
    outgoingBody(providerCall({ request: chatRequest(request), ...call }), {
      family: "acme",
      ceilingField: "max_completion_tokens",
      ...options,
    }),
  ) as Record<string, unknown>;

const tools: ChatRequest["tools"] = [{ type: "function", function: { name: "weather" } }];

test("the smallest body has the upstream's model, the messages and the ceiling, nothing else", () => {
  expect(bodyOf()).toEqual({
    model: "acme/upstream-model",
    messages: [{ role: "user", content: "Hi" }],
    max_completion_tokens: 64,
  });
});

test("the ceiling is always the call's, whatever the caller asked for, under the name the upstream knows", () => {
  expect(bodyOf({ maxTokens: 9999 })["max_completion_tokens"]).toBe(64);
  const legacy = bodyOf({ maxTokens: 9999 }, {}, { ceilingField: "max_tokens" });
  expect(legacy["max_tokens"]).toBe(64);
  expect(legacy).not.toHaveProperty("max_completion_tokens");
});

test("a stream always asks for usage", () => {
  expect(bodyOf({ stream: true, includeUsage: false })).toMatchObject({
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("every validated field arrives under its wire name", () => {
  const format: ChatRequest["responseFormat"] = { type: "json_object" };
  const body = bodyOf(
    {
      n: 2,
      stop: ["a", "b"],
      logprobs: true,
      topLogprobs: 3,
      logitBias: { "5": 1 },
      responseFormat: format,
      tools,
      toolChoice: "required",
      forwarded: { top_p: 0.5, seed: 7, verbosity: "low", parallel_tool_calls: false, presence_penalty: 1 },
    },
    { temperature: 0.25, reasoningEffort: "high" },
  );
  expect(body).toMatchObject({
    n: 2,
    stop: ["a", "b"],
    logprobs: true,
    top_logprobs: 3,
    logit_bias: { "5": 1 },
    response_format: format,
    tools,
    tool_choice: "required",
    parallel_tool_calls: false,
    top_p: 0.5,
    seed: 7,
    verbosity: "low",
    presence_penalty: 1,
    temperature: 0.25,
    reasoning_effort: "high",
  });
});

test("the reasoning mode is explicit, and absent where the release publishes none", () => {
  expect(bodyOf({}, { reasoningEffort: "none" })["reasoning_effort"]).toBe("none");
  expect(bodyOf()).not.toHaveProperty("reasoning_effort");
});

test("identifiers leave only as the call gives them, and nothing of the caller beside them", () => {
  const body = bodyOf(
    { identifiers: { user: "raw@example.com" }, ignored: ["metadata"] },
    { identifiers: { user: "hmac" } },
  );
  expect(body["user"]).toBe("hmac");
  expect(JSON.stringify(body)).not.toContain("raw@example.com");
  for (const name of ["store", "metadata", "service_tier", "ignored", "identifiers"])
    expect(body).not.toHaveProperty(name);
});

test("without tools, no word about tools: upstreams refuse it", () => {
  const body = bodyOf({ toolChoice: "none", forwarded: { parallel_tool_calls: true } });
  expect(body).not.toHaveProperty("tool_choice");
  expect(body).not.toHaveProperty("parallel_tool_calls");
});

const toolTurn = (extra: Record<string, unknown>): ChatRequest["messages"] => [
  { role: "assistant", content: "Plain.", reasoning_content: "thought" },
  {
    role: "assistant",
    content: null,
    reasoning_content: "thought",
    tool_calls: [
      { id: "c1", type: "function", function: { name: "weather", arguments: "{" }, extra_content: extra },
    ],
  },
  { role: "tool", content: "sunny", tool_call_id: "c1" },
];

test("provider state goes back only to the provider that it names", () => {
  const { messages } = bodyOf({ messages: toolTurn({ acme: { google: { s: 1 } }, other: { s: 2 } }) });
  expect((messages as { tool_calls: unknown[] }[])[1]?.tool_calls).toEqual([
    {
      id: "c1",
      type: "function",
      function: { name: "weather", arguments: "{" },
      extra_content: { google: { s: 1 } },
    },
  ]);
  const foreign = bodyOf({ messages: toolTurn({ other: { s: 2 } }) });
  expect(JSON.stringify(foreign)).not.toContain("extra_content");
});

test("reasoning returns on tool turns of a thinking call only", () => {
  const thinking = bodyOf({ messages: toolTurn({}) }, { reasoningEffort: "high" })["messages"] as object[];
  expect(thinking[0]).not.toHaveProperty("reasoning_content");
  expect(thinking[1]).toHaveProperty("reasoning_content", "thought");
  const plain = bodyOf({ messages: toolTurn({}) }, { reasoningEffort: "none" });
  expect(JSON.stringify(plain)).not.toContain("reasoning_content");
});
