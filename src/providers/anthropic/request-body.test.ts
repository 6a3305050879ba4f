import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { nanoUsd } from "../../domain/money.ts";
import { printNumber } from "../../domain/print.ts";
import { Refusal } from "../../domain/refusals.ts";
import { filePart, samplePdf } from "../../lib/pdf.fixtures.ts";
import type { ChatRequest, Message } from "../../domain/chat-request.ts";
import { OPTIONAL_FIELDS } from "../../domain/request-fields.ts";
import { CLAUDE_FIELDS } from "./request-body.ts";
import {
  answer,
  sentBody,
  toolCall,
  called,
  prepared,
  release,
  result,
  says,
  tools,
  use,
  asks,
  type How,
} from "./request-body.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const CEILING = 4096;

test("the smallest body has the model, the messages and the ceiling, nothing else", () => {
  expect(printedText(prepared({}), 64)).toBe(
    '{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"max_tokens":64}',
  );
});

test("everything that this shape has a word for, in its words", () => {
  const body = sentBody(
    {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "developer", content: "In verse." },
        asks("Hi"),
      ],
      tools,
      toolChoice: "required",
      stop: ["END", "\nEND"],
      stream: true,
      forwarded: { top_p: 0.5, seed: 7, parallel_tool_calls: false },
      identifiers: { user: "raw@example.com" },
      responseFormat: {
        type: "json_schema",
        json_schema: {
          name: "n",
          schema: {
            type: "object",
            properties: { a: { type: "object", properties: {}, additionalProperties: true } },
          },
        },
      },
    },
    {
      identifiers: { user: "hmac" },
      temperature: 0.25,
      release: { ...release, upstreamModel: "claude-3-7-sonnet-20250219" },
    },
  );
  expect(body).toEqual({
    model: "claude-3-7-sonnet-20250219",
    system: [says("Be brief."), says("In verse.")],
    messages: [{ role: "user", content: [says("Hi")] }],
    tools: [
      { name: "weather", description: "Where?", input_schema: { type: "object", properties: {} } },
      { name: "clock", input_schema: { type: "object" } },
    ],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
    output_config: {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { a: { type: "object", properties: {}, additionalProperties: true } },
          additionalProperties: false,
        },
      },
    },
    temperature: 0.25,
    top_p: 0.5,
    stop_sequences: ["END", "\nEND"],
    metadata: { user_id: "hmac" },
    stream: true,
    max_tokens: CEILING,
  });
});

test("schemas keep numbers that no double holds", () => {
  const schema = { type: "object", properties: { a: { const: printNumber("175928847299117063") } } };
  const said = printedText(
    prepared({
      responseFormat: { type: "json_schema", json_schema: { name: "n", schema } },
      tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    }),
    64,
  );
  expect(said.match(/"const":175928847299117063/g)).toHaveLength(2);
});

test("what it has no word for is named, or refused where the answer would differ", () => {
  const forwarded = { seed: 7, verbosity: "high", frequency_penalty: 1 } as const;
  const { ignored } = prepared({ forwarded, identifiers: { prompt_cache_key: "k", user: "u" } });
  expect(ignored).toEqual(["seed", "verbosity", "frequency_penalty", "prompt_cache_key"]);
  expect(() => prepared({ responseFormat: { type: "json_object" } })).toThrow(Refusal);
  expect(() => prepared({ stop: ["END", " \n"] })).toThrow("`stop[1]` contains only blanks");
  for (const field of ["n", "logprobs", "logit_bias"] as const) {
    expect(OPTIONAL_FIELDS).toContain(field);
    expect(CLAUDE_FIELDS).not.toContain(field);
  }
});

describe("the conversation", () => {
  test("roles alternate; what was said in a row is one message; what says nothing is left out", () => {
    const messages: Message[] = [
      asks("a"),
      asks([
        { type: "text", text: " " },
        { type: "text", text: "b" },
      ]),
      { role: "assistant", content: "c" },
      { role: "assistant", content: "" },
      { role: "assistant", content: [{ type: "refusal", refusal: "d" }] },
      asks("  "),
      asks("e"),
    ];
    expect(sentBody({ messages })["messages"]).toEqual([
      { role: "user", content: [says("a"), says("b")] },
      { role: "assistant", content: [says("c"), says("d")] },
      { role: "user", content: [says("e")] },
    ]);
  });

  test("a later system message stays where it stands", () => {
    const messages: Message[] = [
      asks("a"),
      { role: "assistant", content: "b" },
      { role: "system", content: "Now in verse." },
      asks("c"),
    ];
    const body = sentBody({ messages });
    expect(body).not.toHaveProperty("system");
    expect(body["messages"]).toEqual([
      { role: "user", content: [says("a")] },
      { role: "assistant", content: [says("b")] },
      { role: "user", content: [says("<system>\nNow in verse.\n</system>"), says("c")] },
    ]);
  });

  test("it begins and ends with the user, whoever spoke first and last", () => {
    expect(sentBody({ messages: [{ role: "assistant", content: "Hello" }] })["messages"]).toEqual([
      { role: "user", content: [says("Begin.")] },
      { role: "assistant", content: [says("Hello")] },
      { role: "user", content: [says("Continue.")] },
    ]);
    const alone = sentBody({ messages: [{ role: "system", content: "Say hi." }] });
    expect(alone["messages"]).toEqual([{ role: "user", content: [says("Say hi.")] }]);
    expect(alone).not.toHaveProperty("system");
    expect(sentBody({ messages: [asks("")] })["messages"]).toEqual([
      { role: "user", content: [says("Begin.")] },
    ]);
  });

  test("results stand behind their calls, in the calls' order, in front of everything else", () => {
    const messages: Message[] = [
      asks("a"),
      called(toolCall("x"), toolCall("y")),
      result("y", "sun"),
      asks("and?"),
      result("x"),
      result("x", "more rain"),
    ];
    expect(sentBody({ messages, tools })["messages"]).toEqual([
      { role: "user", content: [says("a")] },
      { role: "assistant", content: [use("x"), use("y")] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "x", content: [says("rain"), says("more rain")] },
          answer("y", "sun"),
          says("and?"),
        ],
      },
    ]);
  });

  test("a result that says what went wrong is told as such", () => {
    const messages: Message[] = [asks("a"), called(toolCall("x")), { ...result("x"), failed: true }];
    const turns = sentBody({ messages, tools })["messages"] as object[];
    expect(turns.at(-1)).toEqual({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "x", content: [says("rain")], is_error: true }],
    });
  });

  test("ids and names of elsewhere become such as the vendor takes, each id once", () => {
    const odd = { ...toolCall("functions.weather:0"), function: { name: "my tool!", arguments: "not json" } };
    const messages: Message[] = [
      asks("a"),
      called(odd),
      result("functions.weather:0", "one"),
      called(toolCall("same")),
      result("same", "two"),
      called(toolCall("same")),
      result("same", ""),
    ];
    const turns = sentBody({ messages, tools })["messages"] as { content: Record<string, unknown>[] }[];
    const blocks = turns.flatMap(({ content }) => content);
    const ids = blocks.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
    const answered = blocks.flatMap(({ tool_use_id: id }) => (typeof id === "string" ? [id] : []));
    expect(new Set(ids).size).toBe(3);
    expect(answered).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(ids[1]).toBe("same");
    expect(turns[1]?.content[0]).toMatchObject({ name: "my_tool_", input: { arguments: "not json" } });
    expect(turns.at(-1)?.content[0]).not.toHaveProperty("content");
    expect(sentBody({ messages, tools })["messages"]).toEqual(turns); // the same ids each time
  });

  test("calls of before are described, though no tool is offered any more, and cannot be made again", () => {
    const body = sentBody({ messages: [asks("a"), called(toolCall("x")), result("x"), asks("b")] });
    expect(body).toMatchObject({
      tools: [{ name: "weather", input_schema: { type: "object" } }],
      tool_choice: { type: "none" },
    });
  });

  test("images are inline or an address", () => {
    const messages = [
      asks([
        { type: "image_url", image_url: { url: "data:image/JPG;charset=x;base64,QUJD", detail: "high" } },
        { type: "image_url", image_url: { url: "https://pictures.test/a.png" } },
      ]),
    ];
    expect(sentBody({ messages, images: 2 })["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "QUJD" } },
          { type: "image", source: { type: "url", url: "https://pictures.test/a.png" } },
        ],
      },
    ]);
  });
});

test("a file is a document with its name; its data weighs nothing, its name does, and a mark stays on it", () => {
  const part = filePart(samplePdf(), "Über uns.pdf");
  const mark = { type: "ephemeral" } as const;
  const request = { messages: [asks([{ ...part, cache_control: mark }])], files: 1 };
  const priced = { ...release, price: { ...release.price, cacheWrite: nanoUsd(1n) } };
  const data = samplePdf().toString("base64");
  const source = { type: "base64", media_type: "application/pdf", data };
  expect(sentBody(request)["messages"]).toEqual([
    { role: "user", content: [{ type: "document", source, title: "Über uns.pdf" }] },
  ]);
  expect(sentBody(request, { release: priced })["messages"]).toEqual([
    { role: "user", content: [{ type: "document", source, title: "Über uns.pdf", cache_control: mark }] },
  ]);
  const body = prepared(request);
  expect(body.size).toMatchObject({ messages: 1, images: 0, files: 1 });
  expect(body.size.bytes).toBeLessThan(400);
  expect(body.text()).toContain("Über uns.pdf");
  expect(body.text()).not.toContain(data);
});

test("a conversation made to be slow is not: ids and results that repeat, and parts without end", () => {
  const turns = 4000;
  const repeated = Array.from({ length: turns }, () => [called(toolCall("same")), result("same")]).flat();
  const crowded = [
    asks("a"),
    called(toolCall("one")),
    ...Array.from({ length: 30_000 }, () => result("one", "r")),
    asks([{ type: "text", text: "a" }]),
    asks(Array.from({ length: 200_000 }, () => ({ type: "text" as const, text: "a" }))),
  ];
  for (const messages of [[asks("a"), ...repeated], crowded]) {
    const startedAtMs = cpuMs();
    expect(sentBody({ messages, tools })["messages"]).toBeArray();
    expect(cpuMs() - startedAtMs).toBeLessThan(2000);
  }
});

test("the vendor's own words about tools and schemas are held for", () => {
  const heldOf = (request: Partial<ChatRequest>): number => prepared(request).size.tools;
  const schema = { type: "json_schema" as const, json_schema: { name: "n", schema: { type: "object" } } };
  expect(heldOf({})).toBe(0);
  expect(heldOf({ tools })).toBe(66);
  expect(heldOf({ responseFormat: schema })).toBe(64);
  expect(heldOf({ messages: [asks("a"), called(toolCall("x")), result("x")] })).toBe(64);
});

describe("the choice among tools", () => {
  const chosen = (request: Partial<ChatRequest>, how: How = {}): unknown =>
    sentBody({ tools, ...request }, how)["tool_choice"];
  const one = { type: "function", function: { name: "clock" } } as const;

  test("in the vendor's words", () => {
    expect(chosen({})).toBeUndefined();
    expect(chosen({ toolChoice: "auto" })).toEqual({ type: "auto" });
    expect(chosen({ toolChoice: "none", forwarded: { parallel_tool_calls: false } })).toEqual({
      type: "none",
    });
    expect(chosen({ toolChoice: one })).toEqual({ type: "tool", name: "clock" });
    expect(chosen({ forwarded: { parallel_tool_calls: false } })).toEqual({
      type: "auto",
      disable_parallel_tool_use: true,
    });
  });

  test("of some tools only: the others are not sent", () => {
    const toolChoice = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [one] } } as const;
    const body = sentBody({
      tools,
      toolChoice: { ...toolChoice, allowed_tools: { mode: "required", tools: [one] } },
    });
    expect(body["tools"]).toEqual([{ name: "clock", input_schema: { type: "object" } }]);
    expect(body["tool_choice"]).toEqual({ type: "any" });
  });

  test("a model that cannot be told to call is not told so", () => {
    expect(() => chosen({ toolChoice: "required" }, { model: "claude-opus-5-5" })).toThrow(Refusal);
    expect(chosen({ toolChoice: "auto" }, { model: "claude-opus-5-5" })).toEqual({ type: "auto" });
  });

  test("strict goes where the release answers by schemas", () => {
    const capabilities = { ...release.capabilities, json_schema: true };
    const body = sentBody(
      { tools },
      { release: { ...release, upstreamModel: "claude-sonnet-4-5", capabilities } },
    );
    expect(body["tools"]).toMatchObject([{ name: "weather", strict: true }, { name: "clock" }]);
    expect(JSON.stringify(sentBody({ tools }))).not.toContain("strict");
  });
});

test("an envelope with its version in the body has its model in the path", () => {
  const body = sentBody({}, { dialect: { versionInBody: "vertex-2023-10-16" } });
  expect(body).toMatchObject({ anthropic_version: "vertex-2023-10-16" });
  expect(body).not.toHaveProperty("model");
});
