// Answers with little or no content, or malformed ones, in every shape: what the caller gets, what they cost, and
// whose failures they are (wire.md §8; money.md §4).
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  block,
  candidate,
  chunk,
  ended,
  events,
  frames,
  question,
  type Script,
  type Scripted,
  started,
  startScripted,
} from "./scripted.ts";

let house: Scripted;
beforeAll(async () => {
  house = await startScripted();
});
afterAll(() => house.stop());

const SEALED = "c2VhbGVkIGRhdGEgb2YgYSB0aG91Z2h0";
const WORDLESS: [string, object, string][] = [
  ["hidden thinking up to the maximum", { type: "thinking", thinking: "", signature: SEALED }, "max_tokens"],
  ["redacted thinking", { type: "redacted_thinking", data: SEALED }, "max_tokens"],
  [
    "a search that pauses",
    { type: "server_tool_use", id: SEALED, name: "web_search", input: {} },
    "pause_turn",
  ],
  ["an empty text", { type: "text", text: "", citations: [{ type: SEALED }] }, "end_turn"],
];

test.each(WORDLESS)(
  "a native stream without text keeps its events, and costs what was reported: %s",
  async (_, content, reason) => {
    house.says(events(started(), ...block(content), ...ended(reason, 200)));
    const { text, record } = await house.post("/v1/messages", question("claude"));
    expect(record).toMatchObject({ evidence: "provider_usage", charge: 440_000n });
    expect(record.usage).toMatchObject({ promptTokens: 20, completionTokens: 200 });
    expect(text).toContain(SEALED);
    expect(text).toContain(`"stop_reason":"${reason}"`);
  },
);

const asked = { model: "responses", input: "Say hello", max_output_tokens: 200, stream: true, store: false };
const CREATED = {
  type: "response.created",
  sequence_number: 0,
  response: { id: "resp_up", status: "in_progress", output: [] },
};

test("a stream of only sealed reasoning keeps its events, and costs what was reported", async () => {
  const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: SEALED };
  const response = {
    id: "resp_up",
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: [item],
    usage: { input_tokens: 20, output_tokens: 200, total_tokens: 220 },
  };
  house.says(
    events(
      CREATED,
      { type: "response.output_item.added", sequence_number: 1, output_index: 0, item },
      { type: "response.output_item.done", sequence_number: 2, output_index: 0, item },
      { type: "response.incomplete", sequence_number: 3, response },
    ),
  );
  const { text, record } = await house.post("/v1/responses", asked);
  expect(record).toMatchObject({ evidence: "provider_usage", charge: 440_000n });
  expect(text).toContain("response.output_item.done");
  expect(text).toContain(SEALED);
});

const HELLO = [
  CREATED,
  {
    type: "response.output_text.delta",
    sequence_number: 1,
    output_index: 0,
    content_index: 0,
    item_id: "msg_up",
    delta: "Hello",
  },
];

test("a terminator instead of the response's end event loses no text", async () => {
  house.says(events(...HELLO, "[DONE]"));
  const { status, text, record } = await house.post("/v1/responses", asked);
  expect([status, text.includes(`"delta":"Hello"`), record.evidence]).toEqual([
    200,
    true,
    "delivered_tokens",
  ]);
});

test.each(["/v1/messages", "/v1/chat/completions"])(
  "a terminator in place of Claude's last event ends the answer: %s",
  async (path) => {
    const hello = block({ type: "text", text: "" }, { type: "text_delta", text: "Hello" });
    house.says(events(started(), ...hello, ended("end_turn", 3)[0], "[DONE]"));
    const { text, record } = await house.post(path, question("claude"));
    expect(text).toContain("Hello");
    expect(text).not.toContain('"error"');
    expect(record).toMatchObject({ state: "settled", evidence: "provider_usage" });
    expect(record.usage).toMatchObject({ promptTokens: 20, completionTokens: 3 });
  },
);

const OVERLOADED = {
  error: { code: 503, type: "overloaded_error", status: "UNAVAILABLE", message: "Overloaded" },
};
const THROTTLED: [string, object] = ["throttlingException", { message: "Too many requests" }];
const failing = (...list: unknown[]): string => events(...list, { type: "error", ...OVERLOADED });
/** The model has begun, though without any text; then its provider reports that it is busy. */
const BEGUN: [string, string, Script][] = [
  [
    "claude",
    "a sealed thought and tokens",
    failing(started(), ...block({ type: "redacted_thinking", data: SEALED }), {
      type: "message_delta",
      delta: {},
      usage: { output_tokens: 150 },
    }),
  ],
  ["claude", "a thought that is not told", failing(started(), ...block({ type: "thinking", thinking: "" }))],
  ["claude", "a search of its own", failing(started(), ...block({ type: "server_tool_use", name: "s" }))],
  ["claude", "tokens", failing(started(), { type: "message_delta", delta: {}, usage: { output_tokens: 9 } })],
  ["openai", "tokens", failing({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 5 } })],
  [
    "openai",
    "a sealed thought",
    failing(chunk({ role: "assistant", reasoning_details: [{ type: "reasoning.encrypted", data: SEALED }] })),
  ],
  ["openai", "a call without a name", failing(chunk({ tool_calls: [{ index: 0, id: "call_1" }] }))],
  ["openai", "a finish", failing(chunk({ role: "assistant", content: "" }, "stop"))],
  ["openai", "what nobody knows", failing(chunk({ role: "assistant", images: [{ url: "x" }] }))],
  [
    "gemini",
    "tokens of thought",
    failing({ usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 150 } }),
  ],
  ["gemini", "a signature", failing(candidate([{ text: "", thoughtSignature: SEALED }]))],
  ["gemini", "an image", failing(candidate([{ inlineData: { mimeType: "image/png", data: "AA" } }]))],
  ["gemini", "a finish", failing(candidate([], "STOP"))],
  [
    "bedrock",
    "a sealed thought",
    frames(
      ["messageStart", { role: "assistant" }],
      [
        "contentBlockDelta",
        { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: SEALED } } },
      ],
      THROTTLED,
    ),
  ],
  [
    "bedrock",
    "an empty block",
    frames(["contentBlockStart", { contentBlockIndex: 0, start: {} }], THROTTLED),
  ],
  [
    "bedrock",
    "tokens",
    frames(["metadata", { usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 } }], THROTTLED),
  ],
  ["bedrock", "a finish", frames(["messageStop", { stopReason: "end_turn" }], THROTTLED)],
];

test.each(BEGUN)(
  "no other route is asked once the model has begun, though nothing of it was said: %s, %s",
  async (shape, _, script) => {
    house.says(script);
    const { status, record } = await house.post("/v1/chat/completions", question(`${shape}-or-else`));
    expect(record.attempts).toMatchObject([{ provider: shape, outcome: "unknown", errorClass: "server" }]);
    expect([status, record.state, record.charge]).toEqual([502, "released", 0n as never]);
  },
);

test.each([
  [
    "an item of reasoning",
    { type: "response.output_item.added", output_index: 0, item: { type: "reasoning" } },
  ],
  [
    "tokens",
    {
      type: "response.failed",
      response: {
        status: "failed",
        error: { code: "rate_limit_exceeded", message: "Slow down" },
        usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14 },
      },
    },
  ],
])("nor with a provider of the Responses shape: %s", async (_, event) => {
  house.says(failing(CREATED, event));
  const { record } = await house.post("/v1/responses", { ...asked, model: "responses-or-else" });
  expect(record.attempts).toMatchObject([{ provider: "responses", outcome: "unknown" }]);
});

/** Nothing but the start of the call. */
const NOT_BEGUN: [string, Script][] = [
  ["claude", failing(started(), { type: "ping" })],
  ["openai", failing(chunk({ role: "assistant", content: "", refusal: null, tool_calls: [] }))],
  ["openai", failing({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 0 } })],
  ["gemini", failing({ usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } })],
  ["gemini", failing(candidate([{ text: "" }]))],
  ["bedrock", frames(["messageStart", { role: "assistant" }], THROTTLED)],
];

test.each(NOT_BEGUN)("the next route is tried if the model has not begun: %s", async (shape, script) => {
  house.says(script);
  const { record } = await house.post("/v1/chat/completions", question(`${shape}-or-else`));
  expect(record.attempts).toMatchObject([
    { provider: shape, outcome: "not_executed" },
    { provider: "simulator", outcome: "answered" },
  ]);
});

test("nor has a response that was only created", async () => {
  house.says(failing(CREATED, { type: "response.in_progress", sequence_number: 1, response: {} }));
  const { record } = await house.post("/v1/responses", { ...asked, model: "responses-or-else" });
  expect(record.attempts).toMatchObject([{ outcome: "not_executed" }, { outcome: "answered" }]);
});

const FOX = "The quick brown fox jumps over the lazy dog. ";
const LONG = [{ role: "user", content: FOX.repeat(10_000) }];
/** Cut answers whose usage was reported before it was known. */
const UNREAD: [string, string, Script][] = [
  [
    "claude",
    "/v1/chat/completions",
    events(
      started({ input_tokens: 0, output_tokens: 0 }),
      ...block({ type: "text", text: "" }, { type: "text_delta", text: "Hello there" }),
    ),
  ],
  [
    "claude",
    "/v1/messages",
    events(
      started({ input_tokens: 0, output_tokens: 0 }),
      ...block({ type: "text", text: "" }, { type: "text_delta", text: "Hello there" }),
    ),
  ],
  [
    "openai",
    "/v1/chat/completions",
    events({ ...chunk({ content: "Hello there" }), usage: { prompt_tokens: 0, completion_tokens: 2 } }),
  ],
  [
    "gemini",
    "/v1/chat/completions",
    events({ ...candidate([{ text: "Hello there" }]), usageMetadata: { promptTokenCount: 0 } }),
  ],
];

test.each(UNREAD)(
  "a cut answer pays for its prompt, even if zero was reported for it: %s, %s",
  async (shape, path, script) => {
    house.says(script);
    const { record } = await house.post(path, question(shape, { messages: LONG }));
    expect(record).toMatchObject({ evidence: "delivered_tokens" });
    expect(record.usage?.promptTokens).toBeGreaterThan(100_000);
    expect(record.charge).toBeGreaterThan(200_000_000n);
    expect(record.attempts).toMatchObject([{ doubts: ["usage_below_delivered"] }]);
  },
);

test("zeros beside a whole answer are disproved together; a zero of the prompt alone stays the platform's loss", async () => {
  const answered = (completion_tokens: number): string =>
    JSON.stringify({
      choices: [{ index: 0, message: { content: "Hello there" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 0, completion_tokens },
    });
  const whole = question("openai", { messages: LONG, stream: false });
  house.says(answered(0));
  const { record } = await house.post("/v1/chat/completions", whole);
  expect(record.charge).toBeGreaterThan(200_000_000n);
  house.says(answered(2));
  const believed = await house.post("/v1/chat/completions", whole);
  expect(believed.record).toMatchObject({ charge: 100_000n, evidence: "provider_usage" });
});

test("embeddings are not given away for a reported zero", async () => {
  const usage = { prompt_tokens: 0, total_tokens: 0 };
  house.says(
    JSON.stringify({ object: "list", data: [{ object: "embedding", index: 0, embedding: [0.1] }], usage }),
  );
  const { record } = await house.post("/v1/embeddings", { model: "vectors", input: FOX.repeat(300) });
  expect(record).toMatchObject({ evidence: "delivered_tokens" });
  expect(record.usage?.promptTokens).toBeGreaterThan(3000);
  expect(record.charge).toBeGreaterThan(6_000_000n);
});

const use = (input: unknown, ...deltas: object[]): object[] =>
  block(
    { type: "tool_use", id: "toolu_1", name: "delete", ...(input === undefined ? {} : { input }) },
    ...deltas,
  );
const called = (functionCall: object): string =>
  events(candidate([{ functionCall: { name: "delete", ...functionCall } }], "STOP"));
const message = (content: object[]): string =>
  JSON.stringify({ type: "message", id: "m", role: "assistant", content, stop_reason: "tool_use" });
const tool = { type: "tool_use", id: "toolu_1", name: "delete" };
const UNREADABLE: [string, string, boolean, Script][] = [
  [
    "claude",
    "an object for a text",
    true,
    events(
      started(),
      ...use({}, { type: "input_json_delta", partial_json: { only: "this" } }),
      ...ended("tool_use", 9),
    ),
  ],
  ["claude", "a text for an object", true, events(started(), ...use("only this"), ...ended("tool_use", 9))],
  ["claude", "a list, whole", false, message([{ ...tool, input: ["this"] }])],
  ["gemini", "a text for an object", true, called({ args: "only this" })],
  ["gemini", "a list for an object", true, called({ args: ["this"] })],
  [
    "gemini",
    "an object for its pieces",
    true,
    called({ partialArgs: { jsonPath: "$.only", stringValue: "this" } }),
  ],
  ["gemini", "pieces that are texts", true, called({ partialArgs: ["this"] })],
  [
    "gemini",
    "a piece of another type",
    true,
    called({ partialArgs: [{ jsonPath: "$.only", stringValue: 7 }] }),
  ],
  [
    "gemini",
    "a number that is a text",
    true,
    called({ partialArgs: [{ jsonPath: "$.n", numberValue: "7" }] }),
  ],
  ["gemini", "a text, whole", false, called({ args: "only this" }).slice("data: ".length).trim()],
];

test.each(UNREADABLE)(
  "no call is handed over without the arguments that it was made with: %s, %s",
  async (shape, _, stream, script) => {
    house.says(script);
    const { status, text, record } = await house.post("/v1/chat/completions", question(shape, { stream }));
    expect(text).not.toMatch(/"arguments":"[^"]*[}l]/);
    expect(text).toContain('"error"');
    expect(status).toBe(stream && text.startsWith("data: ") ? 200 : 502);
    expect(record.attempts).toMatchObject([{ outcome: "unknown", errorClass: "broken" }]);
  },
);

test.each<[string, boolean, Script]>([
  ["claude", true, events(started(), ...use(undefined), ...ended("tool_use", 9))],
  ["claude", true, events(started(), ...use(null), ...ended("tool_use", 9))],
  ["claude", false, message([{ ...tool, input: {} }])],
  ["gemini", true, called({})],
  ["gemini", true, called({ args: null, partialArgs: null })],
  [
    "bedrock",
    false,
    JSON.stringify({
      output: { message: { content: [{ toolUse: { toolUseId: "t", name: "delete", input: null } }] } },
      stopReason: "tool_use",
    }),
  ],
])("a call without any arguments has none: %s, streamed %s", async (shape, stream, script) => {
  house.says(script);
  const { text } = await house.post("/v1/chat/completions", question(shape, { stream }));
  expect(text).toContain('"arguments":"{}"');
  expect(text).not.toContain('"error"');
});

test("the last event counts even without the blank line after it: a usage, a finish, an error", async () => {
  const usage = { prompt_tokens: 20, completion_tokens: 200 };
  const words = events(chunk({ content: "Hello" }));
  for (const last of [
    events(chunk({}, "stop"), { choices: [], usage }),
    events({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }),
  ]) {
    house.says(words + last.trimEnd());
    const { text, record } = await house.post("/v1/chat/completions", question("openai"));
    expect(text).not.toContain('"error"');
    expect(record).toMatchObject({ evidence: "provider_usage", charge: 440_000n });
  }
  house.says(failing().trimEnd());
  const { record } = await house.post("/v1/chat/completions", question("openai-or-else"));
  expect(record.attempts).toMatchObject([{ outcome: "not_executed" }, { outcome: "answered" }]);
});

test.each<[string, Script]>([
  [
    "openai",
    events(
      { choices: [{ delta: { content: "one" } }, { delta: { content: "two" } }] },
      { choices: [{ finish_reason: "stop" }, { finish_reason: "stop" }] },
      "[DONE]",
    ),
  ],
  [
    "gemini",
    events({
      candidates: [
        { content: { parts: [{ text: "one" }] }, finishReason: "STOP" },
        { content: { parts: [{ text: "two" }] }, finishReason: "STOP" },
      ],
    }),
  ],
])("choices that come together without an index keep their order: %s", async (shape, script) => {
  house.says(script);
  const { text, record } = await house.post("/v1/chat/completions", question(shape, { n: 2 }));
  expect(record.state).toBe("settled");
  expect(text).toMatch(/"index":0,"delta":\{"content":"one"/);
  expect(text).toMatch(/"index":1,"delta":\{"content":"two"/);
});
