import { describe, expect, test } from "bun:test";
import { Refusal } from "../../domain/refusals.ts";
import type { Message } from "../../domain/chat-request.ts";
import { callDraft } from "../openai/openai.fixtures.ts";
import { said } from "./bedrock.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const { prepared, bodyOf, user, called, call, result, signed, use, answer, tools } = said;
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const { release } = callDraft();
const withSchemas = { ...release, capabilities: { ...release.capabilities, json_schema: true } };

test("the smallest body has the messages and the ceiling, nothing else", () => {
  expect(printedText(prepared(), 64)).toBe(
    '{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"inferenceConfig":{"maxTokens":64}}',
  );
});

test("everything that this shape has a word for, in its words", () => {
  const body = bodyOf(
    {
      messages: [
        { role: "system", content: "Be brief." },
        user("a"),
        { role: "developer", content: "In verse." },
        user([{ type: "image_url", image_url: { url: "data:image/JPG;charset=x;base64,QUJD" } }]),
      ],
      tools,
      toolChoice: "required",
      stop: ["END", "\nEND"],
      stream: true,
      forwarded: { top_p: 0.5, seed: 7 },
      responseFormat: {
        type: "json_schema",
        json_schema: { name: "n", schema: { type: "object", properties: { a: { type: "string" } } } },
      },
      images: 1,
    },
    { temperature: 0.25, release: withSchemas, dialect: { guardrail: { id: "gr-1", version: "3" } } },
  );
  expect(body).toEqual({
    messages: [
      { role: "user", content: [{ text: "a" }, { image: { format: "jpeg", source: { bytes: "QUJD" } } }] },
    ],
    system: [{ text: "Be brief." }, { text: "In verse." }],
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: "weather",
            description: "Where?",
            inputSchema: { json: { type: "object", properties: {} } },
            strict: true,
          },
        },
        { toolSpec: { name: "clock", inputSchema: { json: { type: "object" } } } },
      ],
      toolChoice: { any: {} },
    },
    outputConfig: {
      textFormat: {
        type: "json_schema",
        structure: {
          jsonSchema: {
            name: "n",
            schema: '{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}',
          },
        },
      },
    },
    guardrailConfig: { guardrailIdentifier: "gr-1", guardrailVersion: "3" },
    inferenceConfig: { maxTokens: 4096, temperature: 0.25, topP: 0.5, stopSequences: ["END", "\nEND"] },
  });
});

test("what it has no word for is named, or refused where the answer would differ", () => {
  const { ignored } = prepared({
    forwarded: { seed: 7, parallel_tool_calls: false },
    identifiers: { user: "u" },
  });
  expect(ignored).toEqual(["seed", "parallel_tool_calls", "user"]);
  expect(() => prepared({ stop: ["\n"] }, { model: "anthropic.claude-opus-4-5-v1:0" })).toThrow(
    "contains only blanks",
  );
  expect(printedText(prepared({ stop: ["\n"] }), 64)).toContain(String.raw`"stopSequences":["\n"]`);
  expect(() => prepared({ responseFormat: { type: "json_object" } })).toThrow(Refusal);
  const image = (url: string): Message => user([{ type: "image_url", image_url: { url } }]);
  expect(() => prepared({ messages: [image("https://pictures.test/a.png")], images: 1 })).toThrow(Refusal);
  expect(() => prepared({ messages: [image("data:image/tiff;base64,QUJD")], images: 1 })).toThrow(Refusal);
});

describe("the conversation", () => {
  const turnsOf = (messages: Message[], how: object = {}): unknown =>
    bodyOf({ messages, tools }, how)["messages"];

  test("roles alternate, blanks are left out, and it begins and ends with the user", () => {
    expect(
      turnsOf([
        { role: "assistant", content: "Hello" },
        user("a"),
        user(" "),
        user("b"),
        { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
      ]),
    ).toEqual([
      { role: "user", content: [{ text: "Begin." }] },
      { role: "assistant", content: [{ text: "Hello" }] },
      { role: "user", content: [{ text: "a" }, { text: "b" }] },
      { role: "assistant", content: [{ text: "no" }] },
      { role: "user", content: [{ text: "Continue." }] },
    ]);
    expect(bodyOf({ messages: [{ role: "system", content: "Say hi." }] })).toMatchObject({
      system: [{ text: "Say hi." }],
      messages: [{ role: "user", content: [{ text: "Begin." }] }],
    });
  });

  test("results stand behind their calls, in the calls' order, in front of everything else; none is blank", () => {
    const messages = [
      user("a"),
      called(call("x"), call("y"), call("functions.z:0")),
      result("y", "sun"),
      user("and?"),
      result("x"),
    ];
    const turns = turnsOf(messages) as { content: { toolUse?: { toolUseId: string } }[] }[];
    const odd = turns[1]?.content[2]?.toolUse?.toolUseId ?? "";
    expect(odd).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(turns).toEqual([
      { role: "user", content: [{ text: "a" }] },
      { role: "assistant", content: [use("x"), use("y"), use(odd)] },
      { role: "user", content: [answer("x"), answer("y", "sun"), answer(odd, "(empty)"), { text: "and?" }] },
    ] as never);
  });

  test("a result that says what went wrong is told as such where the model has a word for it", () => {
    const messages = [user("a"), called(call("x")), { ...result("x"), failed: true as const }];
    const failed = { ...(answer("x") as { toolResult: object }).toolResult, status: "error" };
    for (const [model, told] of [
      ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", [{ toolResult: failed }]],
      ["amazon.nova-pro-v1:0", [{ toolResult: failed }]],
      ["meta.llama3-3-70b-instruct-v1:0", [answer("x")]],
    ] as const)
      expect(turnsOf(messages, { model })).toMatchObject([{}, {}, { role: "user", content: told }]);
    expect(JSON.stringify(turnsOf(messages, { model: "meta.llama3-3-70b-instruct-v1:0" }))).not.toContain(
      "status",
    );
  });

  test("where no tool may be called, calls of before are told as text, since the API refuses them", () => {
    const messages = [user("a"), called(call("x")), result("x"), user("b")];
    const told = [
      { role: "user", content: [{ text: "a" }] },
      { role: "assistant", content: [{ text: '[Called weather with {"city":"Oslo"}]' }] },
      { role: "user", content: [{ text: "[Result of weather: rain]" }, { text: "b" }] },
    ];
    for (const request of [{ messages }, { messages, tools, toolChoice: "none" as const }]) {
      const body = bodyOf(request);
      expect(body["messages"]).toEqual(told);
      expect(body).not.toHaveProperty("toolConfig");
    }
  });

  test("of some tools only: the others are not sent", () => {
    const one = { type: "function", function: { name: "clock" } } as const;
    const choice = (mode: "auto" | "required") =>
      bodyOf({ tools, toolChoice: { type: "allowed_tools", allowed_tools: { mode, tools: [one] } } })[
        "toolConfig"
      ];
    const specs = [{ toolSpec: { name: "clock", inputSchema: { json: { type: "object" } } } }];
    expect(choice("auto")).toEqual({ tools: specs });
    expect(choice("required")).toEqual({ tools: specs, toolChoice: { any: {} } });
    expect(bodyOf({ tools, toolChoice: one })).toMatchObject({
      toolConfig: { toolChoice: { tool: { name: "clock" } } },
    });
  });
});

test("what is priced is what is sent: its size bounds every printed body and its text", () => {
  const messages = [
    { role: "system", content: "ä".repeat(50) } as Message,
    user([
      { type: "text", text: '\u0001\n"' },
      { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(9000)}` } },
    ]),
    called(call("x", signed("s".repeat(500)))),
    result("x", "rain"),
  ];
  const body = prepared(
    { messages, tools, stop: ["END"], images: 1, forwarded: { top_p: 0.1 } },
    { model: CLAUDE, reasoningEffort: "high", temperature: 0.5 },
  );
  for (const ceiling of [1, 64_000, Number.MAX_SAFE_INTEGER]) {
    const weight = Buffer.byteLength(printedText(body, ceiling)) - 9000;
    expect(body.size.bytes).toBeGreaterThanOrEqual(weight);
  }
  expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
  for (const word of ["ä".repeat(50), "s".repeat(500), "Oslo", "rain", "Where?"])
    expect(body.text()).toContain(word);
  expect(body.text()).not.toContain("AAAA");
  const printed = printedText(body, 77);
  body.sent();
  expect(printedText(body, 77)).toBe(printed);
});

test("parts without end join the turn before them", () => {
  const parts = Array.from({ length: 1_000_000 }, () => ({ type: "text" as const, text: "a" }));
  expect(() => prepared({ messages: [user("a"), user(parts)] })).not.toThrow();
});

test("the makers' own words about tools and schemas are held for", () => {
  expect(prepared().size.tools).toBe(0);
  expect(prepared({ tools }).size.tools).toBe(66);
  const schema = { type: "json_schema" as const, json_schema: { name: "n", schema: { type: "object" } } };
  expect(prepared({ responseFormat: schema }).size.tools).toBe(64);
});
