import { expect, test } from "bun:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { filePart, samplePdf } from "../../lib/pdf.fixtures.ts";
import { geminiSent, GEMINI_CEILING, geminiOutgoing } from "./google.fixtures.ts";
import { issuerOf } from "../issuer.ts";
import { printedText } from "../printed-text.fixtures.ts";

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

test("a file is inline data of its type, which weighs nothing", () => {
  const part = filePart();
  const request = { messages: [{ role: "user" as const, content: [part] }], files: 1 };
  const data = samplePdf().toString("base64");
  expect(geminiSent(request)["contents"]).toEqual([
    { role: "user", parts: [{ inlineData: { mimeType: "application/pdf", data } }] },
  ]);
  const body = geminiOutgoing(request);
  expect(body.size).toMatchObject({ images: 0, files: 1 });
  expect(body.size.bytes).toBeLessThan(300);
  expect(body.text()).not.toContain(data);
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
  expect(printedText(body, GEMINI_CEILING)).not.toMatch(/verbosity|parallel|hmac|raw/);
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

test("log probabilities, with alternatives and without", () => {
  expect(geminiSent({ applied: { logprobs: true, top_logprobs: 3 } })["generationConfig"]).toEqual({
    responseLogprobs: true,
    logprobs: 3,
    maxOutputTokens: GEMINI_CEILING,
  });
  expect(geminiSent({ applied: { logprobs: true } })["generationConfig"]).toEqual({
    responseLogprobs: true,
    maxOutputTokens: GEMINI_CEILING,
  });
});

test("a body may be printed again after it was sent: the same text", () => {
  const body = geminiOutgoing({ stop: ["x"] });
  const text = printedText(body, GEMINI_CEILING);
  body.sent();
  expect(printedText(body, GEMINI_CEILING)).toBe(text);
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
    const startedAtMs = cpuMs();
    expect(geminiSent({ messages, tools })["contents"]).toBeArray();
    expect(cpuMs() - startedAtMs).toBeLessThan(1500);
  }
});
