import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { OPTIONAL_FIELDS } from "../../domain/request-fields.ts";
import { FIELD_SAMPLES, type FieldSample } from "../../domain/request-fields.fixtures.ts";
import { type Dialect, DIALECTS } from "./dialects.ts";
import { outgoingBody } from "./outgoing-body.ts";
import { callDraft, chatRequest } from "./openai.fixtures.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";

const CEILING = 64;

const outgoing = (
  request: Partial<ChatRequest> = {},
  draft: Partial<CallDraft> = {},
  dialect: Partial<Dialect> = {},
): OutgoingBody =>
  outgoingBody(callDraft({ request: chatRequest(request), ...draft }), {
    family: "acme",
    dialect: { ...DIALECTS.openai, ...dialect },
  });

const bodyOf = (...given: Parameters<typeof outgoing>): Record<string, unknown> =>
  JSON.parse(outgoing(...given).print(CEILING)) as Record<string, unknown>;

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

/** The samples as a request holds them. */
const samplesHeld: Record<FieldSample["held"], Record<string, string>> = {
  forwarded: {},
  identifiers: {},
  applied: {},
};
for (const [name, { held, given }] of FIELD_SAMPLES) Object.assign(samplesHeld[held], { [name]: given });

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
  const sent = JSON.parse(some.print(CEILING)) as object;
  expect(sent).toHaveProperty("top_p", 0.5);
  for (const name of ["seed", "parallel_tool_calls", "user", "stream_options"])
    expect(sent).not.toHaveProperty(name);
  expect(outgoing(request, { identifiers: { user: "hmac" } }).ignored).toEqual([]);
});

test("what the upstream does not know of all that may be left out is not sent, and named in the caller's order", () => {
  const { forwarded, identifiers } = samplesHeld;
  const none = outgoing({ tools, forwarded, identifiers }, { identifiers }, { fields: [] });
  expect(none.ignored).toEqual([...Object.keys(forwarded), ...Object.keys(identifiers)]);
  const sent = JSON.parse(none.print(CEILING)) as object;
  for (const name of none.ignored) expect(sent).not.toHaveProperty(name);
});

test("a body may be printed again after it was sent: the same text", () => {
  const body = outgoing({ stop: ["x"] });
  const text = body.print(CEILING);
  body.sent();
  expect(body.print(CEILING)).toBe(text);
});

// ── What is sent is what is priced ───────────────────────────────────────────────────────────────────────────────

const DATA = "A".repeat(1000);
const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\", "\u0001", "\ud800"),
  maxLength: 12,
});
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => ({ any: value }));
const image = fc.record({
  type: fc.constant("image_url" as const),
  image_url: fc.record({
    url: word.map((name) => `data:image/png;base64,${DATA}${name.replaceAll(/\W/g, "")}`),
  }),
});
const part = fc.oneof(fc.record({ type: fc.constant("text" as const), text: word }), image);
const called = fc.record({
  id: word,
  type: fc.constant("function" as const),
  function: fc.record({ name: word, arguments: word }),
  extra_content: fc.record({ acme: json }),
});
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom("user" as const, "system" as const, "developer" as const),
    content: fc.oneof(word, fc.array(part, { minLength: 1, maxLength: 4 })),
    name: word,
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.constant(null),
    tool_calls: fc.array(called, { minLength: 1, maxLength: 3 }),
    reasoning_content: word,
    refusal: word,
  }),
  fc.record({ role: fc.constant("tool" as const), content: word, tool_call_id: word }),
);
const anyRequest = fc
  .record({
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    tools: fc.array(
      fc.record({
        type: fc.constant("function" as const),
        function: fc.record({ name: word, description: word, parameters: json }),
      }),
      { maxLength: 3 },
    ),
    responseFormat: fc.option(
      fc.record({
        type: fc.constant("json_schema" as const),
        json_schema: fc.record({ name: word, schema: json }),
      }),
    ),
    stop: fc.array(word, { maxLength: 4 }),
    stream: fc.boolean(),
    applied: fc.record(
      { logit_bias: fc.dictionary(fc.stringMatching(/^\d{1,9}$/), fc.integer(), { minKeys: 1 }) },
      { requiredKeys: [] },
    ),
    forwarded: fc.constant({ seed: Number.MAX_SAFE_INTEGER, top_p: 0.123456789, verbosity: "high" as const }),
    identifiers: fc.record({ user: word }),
  })
  .map(({ messages, ...request }) => ({
    ...request,
    messages,
    images: messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "image_url").length,
  }));

/** Bytes of the text as it is sent, less the addresses of inline images. */
function sentBytes(text: string): number {
  const { messages } = JSON.parse(text) as ChatRequest;
  let bytes = Buffer.byteLength(text);
  for (const { content } of messages)
    for (const given of Array.isArray(content) ? content : [])
      if (given.type === "image_url") bytes -= Buffer.byteLength(given.image_url.url);
  return bytes;
}

test("nothing that is forwarded escapes the bound: it is the bytes that go upstream, less inline images", () => {
  fc.assert(
    fc.property(anyRequest, fc.constantFrom(...Object.values(DIALECTS)), (request, dialect) => {
      const body = outgoing(
        request,
        { reasoningEffort: "high", identifiers: { user: "u".repeat(43) } },
        dialect,
      );
      for (const ceiling of [1, Number.MAX_SAFE_INTEGER]) {
        const sent = sentBytes(body.print(ceiling));
        expect(body.size.bytes).toBeGreaterThanOrEqual(sent);
        expect(body.size.bytes).toBeLessThan(sent + 20);
      }
      expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
    }),
  );
});

test("every text that is forwarded is in the text of the exact count, however it is nested or escaped", () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const body = outgoing(request, { reasoningEffort: "high" });
      const {
        messages,
        tools: sent,
        response_format: format,
        stop,
        logit_bias: bias,
      } = JSON.parse(body.print(CEILING)) as Record<string, unknown>;
      const text = body.text();
      for (const leaf of leavesOf([messages, sent, format, stop, bias]))
        if (!leaf.startsWith("data:image/") && !FRAME.has(leaf)) expect(text).toInclude(leaf);
    }),
  );
});

/** Roles are a message's frame, which has its flat overhead. */
const FRAME = new Set(["user", "system", "developer", "assistant", "tool"]);

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leavesOf);
}

test("a plain field is in the exact count where it has text that is no setting", () => {
  const textWith = (held: FieldSample["held"], fields: Record<string, unknown>): string =>
    outgoing(
      { [held]: fields },
      held === "identifiers" ? { identifiers: samplesHeld.identifiers } : {},
    ).text();
  for (const [name, { held, given, setting }] of FIELD_SAMPLES) {
    const counted = setting !== true && (typeof given === "string" || typeof given === "object");
    const text = textWith(held, { [name]: given }).slice(textWith("forwarded", {}).length);
    expect([name, text]).toEqual([name, counted ? JSON.stringify(given) : ""]);
  }
});

test("the exact count reads text as the model does, and the data of inline images not at all", () => {
  const url = `data:image/png;base64,${DATA}`;
  const body = outgoing({
    images: 1,
    messages: [
      { role: "user", content: 'a "b"\n' },
      { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    ],
  });
  expect(body.text()).toStartWith('a "b"\n');
  expect(body.text()).not.toContain(DATA);
  expect(body.size).toMatchObject({ messages: 2, tools: 0, images: 1 });
});

test("a data address in a schema is text like any other", () => {
  const schema = { url: `data:image/png;base64,${DATA}` };
  const body = outgoing({ tools: [{ type: "function", function: { name: "f", parameters: schema } }] });
  expect(body.size.bytes).toBeGreaterThan(DATA.length);
  expect(body.text()).toContain(DATA);
});

test("every preset names fields that there are", () => {
  for (const { fields } of Object.values(DIALECTS))
    for (const field of fields) expect(OPTIONAL_FIELDS).toContain(field);
});
