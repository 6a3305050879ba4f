import { expect, test } from "bun:test";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { OPTIONAL_FIELDS } from "../../domain/request-fields.ts";
import { FIELD_SAMPLES } from "../../domain/request-fields.fixtures.ts";
import { filePart, samplePdf } from "../../lib/pdf.fixtures.ts";
import { type Dialect, DIALECTS } from "./dialects.ts";
import { callDraft, chatRequest } from "./openai.fixtures.ts";
import { outgoingBody } from "./outgoing-body.ts";
import type { OutgoingBody } from "../provider.ts";
import { CEILING, outgoing, samplesHeld } from "./outgoing-body.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const bodyOf = (...given: Parameters<typeof outgoing>): Record<string, unknown> =>
  JSON.parse(printedText(outgoing(...given), CEILING)) as Record<string, unknown>;

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
  const legacy = bodyOf({ maxTokens: 9999 }, {}, { outputMaximum: "max_tokens" });
  expect(legacy["max_tokens"]).toBe(64);
  expect(legacy).not.toHaveProperty("max_completion_tokens");
});

test("a stream always asks for usage", () => {
  expect(bodyOf({ stream: true })).toMatchObject({
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
      responseFormat: format,
      tools,
      toolChoice: "required",
      ...samplesHeld,
    },
    { temperature: 0.25, reasoningEffort: "high", identifiers: samplesHeld.identifiers },
  );
  for (const [name, { given }] of FIELD_SAMPLES) expect(body).toHaveProperty(name, given);
  expect(body).toMatchObject({
    n: 2,
    stop: ["a", "b"],
    response_format: format,
    tools,
    tool_choice: "required",
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

test("a file goes as it came, without its cache mark; its data weighs nothing, its name does", () => {
  const part = filePart(samplePdf(), "report.pdf");
  const marked = { ...part, cache_control: { type: "ephemeral" } } as const;
  const request = { messages: [{ role: "user" as const, content: [marked] }], files: 1 };
  expect(bodyOf(request)["messages"]).toEqual([{ role: "user", content: [part] }]);
  const body = outgoing(request);
  expect(body.size).toMatchObject({ images: 0, files: 1 });
  expect(body.size.bytes).toBeLessThan(250);
  expect(body.text()).toContain("report.pdf");
  expect(body.text()).not.toContain(samplePdf().toString("base64"));
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

test("a word that this shape does not have for a tool's error stays here", () => {
  const messages = toolTurn({}).map((one) => (one.role === "tool" ? { ...one, failed: true as const } : one));
  expect((bodyOf({ messages })["messages"] as object[]).at(-1)).toEqual({
    role: "tool",
    content: "sunny",
    tool_call_id: "c1",
  });
});

test("reasoning returns on tool turns of a thinking call only", () => {
  const thinking = bodyOf({ messages: toolTurn({}) }, { reasoningEffort: "high" })["messages"] as object[];
  expect(thinking[0]).not.toHaveProperty("reasoning_content");
  expect(thinking[1]).toHaveProperty("reasoning_content", "thought");
  const plain = bodyOf({ messages: toolTurn({}) }, { reasoningEffort: "none" });
  expect(JSON.stringify(plain)).not.toContain("reasoning_content");
});

test("developer messages go as system where the upstream knows only that", () => {
  const messages: ChatRequest["messages"] = [
    { role: "developer", content: "Be brief." },
    { role: "user", content: "Hi" },
  ];
  expect(bodyOf({ messages })["messages"]).toEqual(messages);
  expect(bodyOf({ messages }, {}, { developerRole: false })["messages"]).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
  ]);
});

test("what the upstream does not know is not sent, and is named", () => {
  const request: Partial<ChatRequest> = {
    stream: true,
    tools,
    forwarded: { top_p: 0.5, seed: 7, parallel_tool_calls: false },
    identifiers: { user: "raw" },
  };
  const some = outgoing(request, { identifiers: { user: "hmac" } }, { fields: ["top_p"] });
  expect(some.ignored).toEqual(["seed", "parallel_tool_calls", "user"]);
  const sent = JSON.parse(printedText(some, CEILING)) as object;
  expect(sent).toHaveProperty("top_p", 0.5);
  for (const name of ["seed", "parallel_tool_calls", "user", "stream_options"])
    expect(sent).not.toHaveProperty(name);
  expect(outgoing(request, { identifiers: { user: "hmac" } }).ignored).toEqual([]);
});

test("what the upstream does not know of all that may be left out is not sent, and named in the caller's order", () => {
  const { forwarded, identifiers } = samplesHeld;
  const none = outgoing({ tools, forwarded, identifiers }, { identifiers }, { fields: [] });
  expect(none.ignored).toEqual([...Object.keys(forwarded), ...Object.keys(identifiers)]);
  const sent = JSON.parse(printedText(none, CEILING)) as object;
  for (const name of none.ignored) expect(sent).not.toHaveProperty(name);
});

test("a body may be printed again after it was sent: the same text", () => {
  const body = outgoing({ stop: ["x"] });
  const text = printedText(body, CEILING);
  body.sent();
  expect(printedText(body, CEILING)).toBe(text);
});

test("messages are printed once for all routes of a request that are told the same, each in its own words", () => {
  let printed = 0;
  const content = { toJSON: () => `printed ${(printed += 1)}` } as unknown as string;
  const draft = callDraft({ request: chatRequest({ messages: [{ role: "developer", content }] }) });
  const route = (upstreamModel: string, dialect: Partial<Dialect> = {}): OutgoingBody =>
    outgoingBody(
      { ...draft, release: { ...draft.release, upstreamModel } },
      { family: "acme", dialect: { ...DIALECTS.openai, ...dialect } },
    );
  const second = route("second", { fields: [] });
  const bodies = [route("first"), second, route("older", { developerRole: false })];
  expect(bodies.map((body) => JSON.parse(printedText(body, CEILING)))).toEqual([
    { model: "first", messages: [{ role: "developer", content: "printed 1" }], max_completion_tokens: 64 },
    { model: "second", messages: [{ role: "developer", content: "printed 1" }], max_completion_tokens: 64 },
    { model: "older", messages: [{ role: "system", content: "printed 2" }], max_completion_tokens: 64 },
  ]);
  expect(printed).toBe(2);
  bodies[0]?.sent();
  expect(JSON.parse(printedText(second, CEILING))).toMatchObject({ model: "second" });
});

test("it is never measured shorter than it is sent, whatever letters its model has", () => {
  const release = { ...callDraft().release, upstreamModel: "модель-大" };
  const body = outgoing({ messages: [{ role: "user", content: "é 大" }] }, { release });
  const longest = printedText(body, Number.MAX_SAFE_INTEGER);
  expect(body.size.bytes).toBe(Buffer.byteLength(longest));
});

test("every preset names fields that there are", () => {
  for (const { fields } of Object.values(DIALECTS))
    for (const field of fields) expect(OPTIONAL_FIELDS).toContain(field);
});
