import { expect, test } from "bun:test";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { geminiSent, GEMINI_CEILING, geminiOutgoing } from "./google.fixtures.ts";
import { issuerOf, NO_SIGNATURE } from "./signatures.ts";

const MODEL = "gemini-3.8-flash";
const tools: ChatRequest["tools"] = [
  {
    type: "function",
    function: {
      name: "weather",
      description: "Of a place.",
      parameters: { type: "object", properties: {} },
      strict: true,
    },
  },
  { type: "function", function: { name: "time" } },
];
const call = (id: string, name: string, args: string, extra?: Record<string, unknown>) => ({
  id,
  type: "function" as const,
  function: { name, arguments: args },
  ...(extra !== undefined && { extra_content: extra }),
});
const own = (signature: unknown, issuer: unknown = issuerOf("acme", MODEL)): Record<string, unknown> => ({
  google: { thought_signature: signature, issuer },
});

test("the smallest body has the contents and the ceiling, nothing else", () => {
  expect(geminiSent()).toEqual({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { maxOutputTokens: GEMINI_CEILING },
  });
});

test("a whole conversation, as Gemini takes it", () => {
  const body = geminiSent(
    {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
        {
          role: "user",
          content: [
            { type: "text", text: "Here:" },
            { type: "image_url", image_url: { url: "data:image/PNG;base64,QUJD" } },
            { type: "image_url", image_url: { url: "https://example.com/a.webp?x=1" } },
          ],
        },
        {
          role: "assistant",
          content: "I look.",
          reasoning_content: "hm",
          tool_calls: [call("c1", "weather", '{"at":"Bonn"}', own("c2ln")), call("c2", "time", "")],
        },
        { role: "tool", tool_call_id: "c2", content: "noon" },
        { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: '{"sun":1.50}' }] },
        { role: "developer", content: "Be kind." },
        { role: "user", content: "And?" },
      ],
      images: 2,
      tools,
      toolChoice: "auto",
      stop: ["END"],
      n: 2,
      responseFormat: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object", additionalProperties: false } },
      },
      forwarded: {
        top_p: 0.5,
        seed: 2 ** 31 + 5,
        presence_penalty: 1,
        frequency_penalty: -1,
        verbosity: "low",
      },
    },
    { temperature: 0.25, reasoningEffort: "low" },
  );
  expect(body).toEqual({
    systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
    contents: [
      {
        role: "user",
        parts: [
          { text: "Weather?" },
          { text: "Here:" },
          { inlineData: { mimeType: "image/png", data: "QUJD" } },
          { fileData: { mimeType: "image/webp", fileUri: "https://example.com/a.webp?x=1" } },
        ],
      },
      {
        role: "model",
        parts: [
          { text: "I look." },
          { functionCall: { name: "weather", args: { at: "Bonn" } }, thoughtSignature: "c2ln" },
          { functionCall: { name: "time", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "weather", response: { output: '{"sun":1.50}' } } },
          { functionResponse: { name: "time", response: { output: "noon" } } },
        ],
      },
      { role: "user", parts: [{ text: "And?" }] },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: "weather",
            description: "Of a place.",
            parametersJsonSchema: { type: "object", properties: {} },
          },
          { name: "time" },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    generationConfig: {
      temperature: 0.25,
      topP: 0.5,
      seed: -(2 ** 31) + 5,
      presencePenalty: 1,
      frequencyPenalty: -1,
      stopSequences: ["END"],
      candidateCount: 2,
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", additionalProperties: false },
      maxOutputTokens: GEMINI_CEILING,
      thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" },
    },
  });
});

test("what it does not know is not sent, and is named", () => {
  const body = geminiOutgoing(
    {
      tools,
      forwarded: { top_p: 0.5, verbosity: "low", parallel_tool_calls: false },
      identifiers: { user: "raw" },
    },
    { identifiers: { user: "hmac" } },
  );
  expect(body.ignored).toEqual(["verbosity", "parallel_tool_calls", "user"]);
  expect(body.print(GEMINI_CEILING)).not.toMatch(/verbosity|parallel|hmac|raw/);
});

test.each<[NonNullable<ChatRequest["toolChoice"]>, object]>([
  ["none", { mode: "NONE" }],
  ["required", { mode: "ANY" }],
  [
    { type: "function", function: { name: "time" } },
    { mode: "ANY", allowedFunctionNames: ["time"] },
  ],
  [
    {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "time" } }] },
    },
    { mode: "ANY", allowedFunctionNames: ["time"] },
  ],
  [
    {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "time" } }] },
    },
    { mode: "VALIDATED", allowedFunctionNames: ["time"] },
  ],
])("a choice among tools: %j", (toolChoice, functionCallingConfig) => {
  expect(geminiSent({ tools, toolChoice })["toolConfig"]).toEqual({ functionCallingConfig });
  expect(geminiSent({ toolChoice })).not.toHaveProperty("toolConfig");
});

test("an answer as JSON without a schema, and as text", () => {
  expect(geminiSent({ responseFormat: { type: "json_object" } })["generationConfig"]).toEqual({
    responseMimeType: "application/json",
    maxOutputTokens: GEMINI_CEILING,
  });
  expect(geminiSent({ responseFormat: { type: "text" } })["generationConfig"]).toEqual({
    maxOutputTokens: GEMINI_CEILING,
  });
});

const contentsOf = (messages: ChatRequest["messages"], model = MODEL): unknown =>
  geminiSent({ messages }, { model })["contents"];
const turn = (extra?: Record<string, unknown>): ChatRequest["messages"] => [
  { role: "user", content: "Go." },
  {
    role: "assistant",
    content: null,
    tool_calls: [call("c1", "time", "{}", extra), call("c2", "time", "{}")],
  },
  { role: "tool", tool_call_id: "c1", content: "1" },
  { role: "tool", tool_call_id: "c2", content: "2" },
];
const signaturesOf = (extra: Record<string, unknown> | undefined, model = MODEL): unknown[] =>
  (contentsOf(turn(extra), model) as { parts: { thoughtSignature?: string }[] }[])[1]?.parts.map(
    ({ thoughtSignature }) => thoughtSignature ?? null,
  ) ?? [];

test("a signature goes back where it stood; in the place of one that is lost or foreign stands that there is none", () => {
  expect(signaturesOf(own("c2ln"))).toEqual(["c2ln", null]);
  expect(signaturesOf({ google: { thought_signature: "c2ln" } })).toEqual(["c2ln", null]); // without our mark
  const lost: (Record<string, unknown> | undefined)[] = [
    undefined,
    {},
    own("c2ln", issuerOf("other", MODEL)),
    own("c2ln", issuerOf("acme", "gemini-3.1-pro")),
    own("c2ln", 7),
    own(7),
    own(""),
    own("with blanks"),
    own("a".repeat(1024 * 1024 + 1)),
    { google: "c2ln" },
    { acme: { google: { thought_signature: "c2ln" } } },
    JSON.parse('{"__proto__":{"google":{"thought_signature":"c2ln"}}}') as Record<string, unknown>,
  ];
  for (const extra of lost) expect(signaturesOf(extra)).toEqual([NO_SIGNATURE, null]);
  expect(signaturesOf(undefined, "gemini-2.5-flash")).toEqual([null, null]); // asks for none
});

test("every call has one answer behind it, in the order of the calls, whatever stands between and however often it came", () => {
  const output = (text: string): unknown => ({
    functionResponse: { name: "time", response: { output: text } },
  });
  const first = {
    role: "assistant" as const,
    content: null,
    tool_calls: [call("c1", "time", "{}"), call("c1", "time", "{}")],
  };
  expect(
    contentsOf([
      { role: "user", content: "Go." },
      first,
      { role: "user", content: "Hurry." },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "tool", tool_call_id: "c1", content: "2" },
      { role: "tool", tool_call_id: "c1", content: "3" },
      { role: "assistant", content: null, tool_calls: [call("c1", "time", "[]")] },
      { role: "tool", tool_call_id: "c1", content: "4" },
    ]),
  ).toMatchObject([
    { role: "user", parts: [{ text: "Go." }] },
    { role: "model", parts: [{}, {}] },
    { role: "user", parts: [output("1"), output("2\n3")] },
    { role: "user", parts: [{ text: "Hurry." }] },
    { role: "model", parts: [{ functionCall: { args: { arguments: "[]" } } }] },
    { role: "user", parts: [output("4")] },
  ]);
});

test("it begins and ends with the user, with something said", () => {
  expect(
    contentsOf([
      { role: "assistant", content: "a" },
      { role: "assistant", content: "b" },
    ]),
  ).toEqual([
    { role: "user", parts: [{ text: "Begin." }] },
    { role: "model", parts: [{ text: "a" }, { text: "b" }] },
    { role: "user", parts: [{ text: "Continue." }] },
  ]);
  expect(contentsOf([{ role: "user", content: "" }])).toEqual([
    { role: "user", parts: [{ text: "Begin." }] },
  ]);
  const alone = geminiSent({ messages: [{ role: "system", content: "Say hello." }] });
  expect(alone).toMatchObject({ contents: [{ role: "user", parts: [{ text: "Say hello." }] }] });
  expect(alone).not.toHaveProperty("systemInstruction");
  expect(
    contentsOf([
      { role: "assistant", content: null, refusal: "No." },
      { role: "user", content: "Please." },
    ]),
  ).toEqual([
    { role: "user", parts: [{ text: "Begin." }] },
    { role: "model", parts: [{ text: "No." }] },
    { role: "user", parts: [{ text: "Please." }] },
  ]);
});

const thinking = (model: string, reasoningEffort: string | null, ceiling = 32_768): unknown =>
  (
    JSON.parse(geminiOutgoing({}, { model, reasoningEffort }).print(ceiling)) as {
      generationConfig: { thinkingConfig?: unknown };
    }
  ).generationConfig.thinkingConfig;
const budget = (thinkingBudget: number, includeThoughts = true): object => ({
  includeThoughts,
  thinkingBudget,
});
const level = (thinkingLevel: string, includeThoughts = true): object => ({ includeThoughts, thinkingLevel });

test.each<[string, string | null, number, unknown]>([
  ["gemini-2.5-flash", null, 8192, undefined],
  ["gemini-2.5-flash", "none", 8192, budget(0, false)],
  ["gemini-2.5-flash", "low", 8192, budget(1024)],
  ["gemini-2.5-flash", "high", 8192, budget(6144)], // three quarters: the answer needs the rest
  ["gemini-2.5-flash", "high", 65_536, budget(24_576)],
  ["gemini-2.5-flash", "0", 8192, budget(0)],
  ["gemini-2.5-flash", "500", 8192, budget(500)],
  ["gemini-2.5-flash-lite", "100", 8192, budget(512)],
  ["gemini-2.5-flash-lite", "low", 300, budget(0)],
  ["gemini-2.5-pro", "none", 8192, budget(128, false)], // its thinking cannot be switched off
  ["gemini-2.5-pro", "max", 65_536, budget(32_768)],
  ["gemini-2.5-pro", "low", 64, budget(-1)],
  ["gemini-3-flash-preview", "none", 8192, level("MINIMAL", false)],
  ["gemini-3-pro-preview", "none", 8192, level("LOW", false)],
  ["gemini-3-pro-preview", "medium", 8192, level("HIGH")],
  ["gemini-3.1-pro-preview", "medium", 8192, level("MEDIUM")],
  ["models-of-our-own", "xhigh", 8192, level("HIGH")],
])("%s thinks %s under %d tokens", (model, mode, ceiling, expected) => {
  expect(thinking(model, mode, ceiling)).toEqual(expected as object);
});

test("a body may be printed again after it was sent: the same text", () => {
  const body = geminiOutgoing({ stop: ["x"] });
  const text = body.print(GEMINI_CEILING);
  body.sent();
  expect(body.print(GEMINI_CEILING)).toBe(text);
});

test("a conversation made to be slow is not: answers and calls that repeat, and parts without end", () => {
  const one = (id: string) => ({
    role: "assistant" as const,
    content: null,
    tool_calls: [call(id, "time", "{}")],
  });
  const answer = { role: "tool" as const, content: "r", tool_call_id: "same" };
  const twins = Array.from({ length: 20_000 }, () => call("same", "time", "{}"));
  const crowded: ChatRequest["messages"][] = [
    [{ role: "user", content: "a" }, one("same"), ...Array.from({ length: 30_000 }, () => answer)],
    [{ role: "assistant", content: null, tool_calls: twins }, ...twins.map(() => answer)],
    Array.from({ length: 30_000 }, () => ({ role: "user" as const, content: "a" })),
    [
      { role: "user", content: "a" },
      {
        role: "user",
        content: Array.from({ length: 200_000 }, () => ({ type: "text" as const, text: "a" })),
      },
    ],
  ];
  for (const messages of crowded) {
    const startedAtMs = performance.now();
    expect(geminiSent({ messages, tools })["contents"]).toBeArray();
    expect(performance.now() - startedAtMs).toBeLessThan(1500);
  }
});
