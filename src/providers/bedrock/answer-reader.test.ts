import { describe, expect, test } from "bun:test";
import { answerOf } from "../http/answer.ts";
import { thrown } from "../http/http.fixtures.ts";
import type { Part } from "../provider.ts";
import { ConverseReader } from "./answer-reader.ts";
import { exceptionOf, readRefusal } from "./errors.ts";

/** Returns the parts that a reader makes of events and their end. */
function partsOf(events: [type: string, payload: object][], signer = "claude"): Part[] {
  const reader = new ConverseReader(signer);
  const parts: Part[] = [];
  for (const [type, payload] of events)
    reader.event({ kind: "event", type, payload: JSON.stringify(payload) }, parts);
  reader.close(parts);
  return parts;
}

const text = (said: string, index = 0): [string, object] => [
  "contentBlockDelta",
  { contentBlockIndex: index, delta: { text: said } },
];
const thinks = (index: number, reasoningContent: object): [string, object] => [
  "contentBlockDelta",
  { contentBlockIndex: index, delta: { reasoningContent } },
];
const begins = (index: number, name: string, toolUseId = `t-${index}`): [string, object] => [
  "contentBlockStart",
  { contentBlockIndex: index, start: { toolUse: { toolUseId, name } } },
];
const argument = (index: number, input: string): [string, object] => [
  "contentBlockDelta",
  { contentBlockIndex: index, delta: { toolUse: { input } } },
];
const stop = (stopReason: string): [string, object] => ["messageStop", { stopReason }];
const ends = (index: number): [string, object] => ["contentBlockStop", { contentBlockIndex: index }];
const extraOf = (parts: Part[]): unknown[] =>
  parts.flatMap((part) => (part.type === "tool_call" ? [part.extraContent ?? null] : []));
test("calls count from 0 whatever their blocks count, and arguments that are no text are an object", () => {
  const parts = partsOf([
    text("a"),
    begins(1, "weather"),
    argument(1, '{"city":'),
    argument(1, '"Bern"}'),
    ends(1),
    begins(2, "clock"),
    argument(2, ""),
    begins(3, "never-ended"),
    stop("tool_use"),
  ]);
  expect(parts).toMatchObject([
    { type: "text", text: "a" },
    { type: "tool_call", index: 0, id: "t-1", name: "weather" },
    { type: "tool_arguments", index: 0, text: '{"city":' },
    { type: "tool_arguments", index: 0, text: '"Bern"}' },
    { type: "tool_call", index: 1, name: "clock" },
    { type: "tool_call", index: 2, name: "never-ended" },
    { type: "tool_arguments", index: 1, text: "{}" },
    { type: "tool_arguments", index: 2, text: "{}" },
    { type: "finish", reason: "tool_calls" },
  ]);
});

test("signed reasoning leaves once, on the call behind it, where it stood; what nobody signed does not", () => {
  const parts = partsOf([
    thinks(0, { text: "One" }),
    thinks(0, { text: " two." }),
    thinks(0, { signature: "sig-" }),
    thinks(0, { signature: "1" }),
    ends(0),
    text("Let me see.", 1),
    thinks(2, { redactedContent: "c2VhbGVk" }),
    ends(2),
    begins(3, "weather"),
    ends(3),
    thinks(4, { text: "unsigned" }),
    begins(5, "clock"),
    stop("tool_use"),
  ]);
  expect(extraOf(parts)).toEqual([
    {
      bedrock: {
        by: "claude",
        reasoning: [
          { index: 0, text: "One two.", signature: "sig-1" },
          { index: 1, redacted: "c2VhbGVk", after: "11" },
        ],
      },
    },
    null,
  ]);
  const heard = parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : []));
  expect(heard).toEqual(["One", " two.", "unsigned"]);
});

test("reasoning without end is told, and not kept; what led to the next call is", () => {
  const long = "x".repeat(2_500_000);
  const parts = partsOf([
    thinks(0, { text: long }),
    thinks(0, { signature: "a" }),
    thinks(1, { text: long }),
    thinks(1, { signature: "b" }),
    begins(2, "weather"),
    ends(2),
    thinks(3, { text: "short" }),
    thinks(3, { signature: "c" }),
    begins(4, "clock"),
    stop("tool_use"),
  ]);
  const heard = parts.flatMap((part) => (part.type === "reasoning" ? [part.text.length] : []));
  expect(heard).toEqual([2_500_000, 2_500_000, 5]);
  expect(extraOf(parts)).toEqual([
    null,
    { bedrock: { by: "claude", reasoning: [{ index: 0, text: "short", signature: "c" }] } },
  ]);
});

test("a whole answer reads the same: reasoning, text, citations, a call", () => {
  const body = {
    output: {
      message: {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "s" } } },
          { text: "See " },
          { citationsContent: { content: [{ text: "page 3" }], citations: [{}] } },
          { toolUse: { toolUseId: "t", name: "weather", input: { city: "Bern" } } },
          { toolUse: { toolUseId: "u", name: "clock" } },
        ],
      },
    },
    stopReason: "tool_use",
    serviceTier: { type: "priority" },
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
  };
  const answer = answerOf(JSON.stringify(body), new ConverseReader("claude"));
  expect(answer.choices).toMatchObject([
    {
      content: "See page 3",
      reasoning: "Hm.",
      finishReason: "tool_calls",
      toolCalls: [
        {
          id: "t",
          arguments: '{"city":"Bern"}',
          extraContent: { bedrock: { by: "claude", reasoning: [{ index: 0, text: "Hm.", signature: "s" }] } },
        },
        { id: "u", arguments: "{}" },
      ],
    },
  ]);
  expect(answer.usage).toMatchObject({ promptTokens: 3, completionTokens: 4, serviceTier: "priority" });
});

test("numbers of arguments that come whole leave as they were written, also those that no double holds", () => {
  const input = '{"id":175928847299117063,"rows":[{"id":-9007199254740993}],"x":1e400}';
  const block = `{"toolUse":{"toolUseId":"t","name":"f","input":${input}}}`;
  const parts: Part[] = [];
  const body = `{"output":{"message":{"role":"assistant","content":[${block}]}},"stopReason":"tool_use"}`;
  new ConverseReader("nova").whole(body, parts);
  expect(parts).toContainEqual({ type: "tool_arguments", choice: 0, index: 0, text: input });
});

test("stop and usage end it, whichever comes first; neither alone does", () => {
  const usage = { kind: "event", type: "metadata", payload: '{"usage":{"inputTokens":1,"outputTokens":2}}' };
  const stopped = { kind: "event", type: "messageStop", payload: '{"stopReason":"end_turn"}' };
  for (const events of [
    [usage, stopped],
    [stopped, usage],
  ]) {
    const reader = new ConverseReader("claude");
    expect(events.map((event) => reader.event(event, []))).toEqual([null, "done"]);
    expect([reader.complete, reader.usageTold]).toEqual([true, true]);
  }
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filtered", "content_filter"],
  ["something_new", "stop"],
] as const)("stopReason %s is %s", (word, reason) => {
  expect(partsOf([stop(word)])).toEqual([{ type: "finish", choice: 0, reason }]);
});

test("a guardrail's words may stand in an answer in which it intervened", () => {
  const finish = { type: "finish", choice: 0, reason: "content_filter", guarded: true } as const;
  expect(partsOf([stop("guardrail_intervened")])).toEqual([finish]);
});

test("a model that failed is no answer, and nothing is known of what it ran", () => {
  for (const word of ["malformed_model_output", "malformed_tool_use"]) {
    const { reason, executed } = thrown(() => partsOf([stop(word)]));
    expect([reason, executed]).toEqual(["no_answer", "unknown"]);
  }
});

test.each<[string, string]>([
  ["an answer of another shape", '{"choices":[{"message":{"content":"hi"}}]}'],
  ["an error", '{"message":"no"}'],
  ["a list", "[]"],
  ["nothing", ""],
])("%s where a whole answer should stand is broken", (_, body) => {
  const { reason, executed } = thrown(() => answerOf(body, new ConverseReader("claude")));
  expect([reason, executed]).toEqual(["broken", "unknown"]);
});

test("arguments of a call that never began, and a call without a name, are broken", () => {
  expect(thrown(() => partsOf([argument(0, "{}"), stop("tool_use")])).reason).toBe("broken");
  expect(thrown(() => partsOf([begins(0, "")])).reason).toBe("broken");
});

describe("errors", () => {
  test.each([
    ["accessDeniedException", 403],
    ["unrecognizedClientException", 403],
    ["ExpiredTokenException", 403],
    ["resourceNotFoundException", 404],
    ["serviceQuotaExceededException", 429],
    ["conflictException", 400],
    ["modelErrorException", 424],
    ["throttlingException", 429],
    ["ThrottlingException", 429],
    ["modelNotReadyException", 429],
    ["validationException", 400],
    ["modelStreamErrorException", 424],
    ["modelTimeoutException", 408],
    ["internalServerException", 500],
    ["serviceUnavailableException", 503],
    ["somethingNewException", 0],
  ])("%s in a stream is %d", (type, status) => {
    expect(exceptionOf(type, '{"message":"m"}')).toMatchObject({ status, code: type, message: "m" });
  });

  test("words that are no JSON are the message", () => {
    expect(exceptionOf("InternalFailure", "sorry")).toMatchObject({ status: 0, message: "sorry" });
  });

  test("a refusal's words, and the caller's name of the field that they name", () => {
    const at = (path: string): string | null =>
      readRefusal(
        JSON.stringify({
          message: `1 validation error detected: Value '9' at '${path}' failed to satisfy constraint: x`,
        }),
      ).param;
    expect(at("inferenceConfig.temperature")).toBe("temperature");
    expect(at("inferenceConfig.topP")).toBe("top_p");
    expect(at("inferenceConfig.maxTokens")).toBe("max_tokens");
    expect(at("inferenceConfig.futureSetting")).toBeNull();
    expect(at("toolConfig.tools.1.member.toolSpec.name")).toBe("tools");
    expect(
      readRefusal('{"__type":"com.amazon.coral.service#UnrecognizedClientException","Message":"m"}'),
    ).toMatchObject({
      code: "UnrecognizedClientException",
      message: "m",
    });
    expect(readRefusal("<html>")).toMatchObject({ code: "", message: "" });
  });
});
