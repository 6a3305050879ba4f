import { describe, expect, test } from "bun:test";
import type { Message } from "../../domain/chat-request.ts";
import {
  sentBody,
  toolCall,
  called,
  prepared,
  result,
  says,
  signed,
  THOUGHT,
  tools,
  use,
  asks,
  type How,
} from "./request-body.fixtures.ts";

describe("thinking", () => {
  const warm = { reasoningEffort: "medium", temperature: 0.5 };

  test.each([
    ["minimal", 20_000, 2000],
    ["low", 4096, 1024],
    ["medium", 4096, 2048],
    ["high", 4096, 3276],
    ["max", 1_000_000, 32_000],
    ["5000", 4096, 3891],
    ["5000", 100_000, 5000],
    ["medium", 1100, 1024],
    ["medium", 1024, null],
    ["high", 100, null],
  ])("the mode %s below a ceiling of %d has a budget of %p inside it", (reasoningEffort, ceiling, budget) => {
    const body = sentBody({}, { reasoningEffort }, ceiling);
    expect(body["max_tokens"]).toBe(ceiling);
    expect(body["thinking"]).toEqual(
      budget === null ? undefined : { type: "enabled", budget_tokens: budget },
    );
    expect(body).not.toHaveProperty("output_config");
  });

  test.each([
    ["claude-opus-4-6", "high", { type: "adaptive" }, { effort: "high" }],
    ["claude-opus-4-6", "none", undefined, undefined],
    ["claude-opus-4-7", "xhigh", { type: "adaptive", display: "summarized" }, { effort: "xhigh" }],
    [
      "anthropic.claude-sonnet-5-v1:0",
      "minimal",
      { type: "adaptive", display: "summarized" },
      { effort: "low" },
    ],
    ["claude-sonnet-5", "none", { type: "disabled" }, undefined],
    ["claude-sonnet-5-5", "none", { type: "between_tools" }, undefined],
    ["our-own-deployment", "high", { type: "adaptive", display: "summarized" }, { effort: "high" }],
  ])("%s thinks %s by an effort", (model, reasoningEffort, thinking, output) => {
    const body = sentBody({}, { model, reasoningEffort, dialect: { dropsUnbound: false } });
    expect(body["thinking"]).toEqual(thinking);
    expect(body["output_config"]).toEqual(output);
  });

  test("where it cannot be switched off, it is kept low; thoughts of another conversation are dropped, not refused", () => {
    expect(sentBody({}, { model: "claude-opus-5-5", reasoningEffort: "none" })).toMatchObject({
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
      output_config: { effort: "low" },
    });
    expect(sentBody({}, { model: "claude-fable-5", reasoningEffort: "none" })["thinking"]).toEqual({
      type: "adaptive",
    });
  });

  test("a release without modes says nothing of it", () => {
    expect(sentBody({}, { model: "claude-opus-5" })).not.toHaveProperty("thinking");
  });

  test("temperature and top_p go beside no thought, alone where the model wants it, and are named when they go", () => {
    const request = { temperature: 0.5, forwarded: { top_p: 0.9 } };
    const kept = (how: How): unknown[] => {
      const body = sentBody(request, { temperature: 0.5, ...how });
      return [body["temperature"], body["top_p"], prepared(request, { temperature: 0.5, ...how }).ignored];
    };
    expect(kept({ model: "claude-3-7-sonnet" })).toEqual([0.5, 0.9, []]);
    expect(kept({ model: "claude-haiku-4-5@20251001" })).toEqual([0.5, undefined, ["top_p"]]);
    expect(kept({ model: "claude-haiku-4-5", reasoningEffort: "low" })).toEqual([
      undefined,
      undefined,
      ["temperature", "top_p"],
    ]);
    expect(kept({ model: "claude-opus-4-8" })).toEqual([undefined, undefined, ["temperature", "top_p"]]);
    expect(prepared({}, { model: "claude-opus-4-8", temperature: 1 }).ignored).toEqual([]);
  });

  test("a demanded tool is called without it where thinking has a budget, and with it where it has none", () => {
    expect(sentBody({ tools, toolChoice: "required" }, warm)).not.toHaveProperty("thinking");
    expect(sentBody({ tools, toolChoice: "required" }, { ...warm, model: "claude-opus-4-7" })).toHaveProperty(
      "thinking",
    );
    expect(sentBody({ tools, toolChoice: "auto" }, warm)).toHaveProperty("thinking");
  });
});

describe("thoughts that come back", () => {
  const round = (extra?: Record<string, unknown>, content: string | null = null): Message[] => [
    asks("a"),
    { role: "assistant", content, tool_calls: [toolCall("x", extra), toolCall("y")] },
    result("x"),
    result("y"),
  ];
  const assistant = (messages: Message[], how: How = { reasoningEffort: "medium" }): unknown =>
    (sentBody({ messages, tools }, how)["messages"] as { content: unknown }[])[1]?.content;
  const thinks = (messages: Message[]): boolean =>
    sentBody({ messages, tools }, { reasoningEffort: "medium" })["thinking"] !== undefined;

  test("stand in front of their call, in the text where they stood", () => {
    expect(assistant(round(signed("sig"), "Looking."))).toEqual([
      THOUGHT,
      says("Looking."),
      use("x"),
      use("y"),
    ]);
    expect(assistant(round(signed("sig", "8"), "Looking. So."))).toEqual([
      says("Looking."),
      THOUGHT,
      says(" So."),
      use("x"),
      use("y"),
    ]);
    expect(assistant(round(signed("sig", "999"), "Looking."))).toEqual([
      says("Looking."),
      THOUGHT,
      use("x"),
      use("y"),
    ]);
  });

  test("sealed ones too, as they are", () => {
    const data = { anthropic: { thinking: [{ type: "redacted_thinking", data: "x+/=" }] } };
    expect(assistant(round(data))).toEqual([{ type: "redacted_thinking", data: "x+/=" }, use("x"), use("y")]);
  });

  test("lost ones cost the round its thinking where the vendor would refuse it, and nothing after the round", () => {
    expect(thinks(round(signed("sig")))).toBe(true);
    expect(thinks(round())).toBe(false);
    expect(thinks([...round(), { role: "assistant", content: "Rain." }, asks("And now?")])).toBe(true);
    const second = [called(toolCall("z")), result("z")]; // it thinks once per round
    expect(thinks([...round(signed("sig")), ...second])).toBe(true);
    expect(
      sentBody({ messages: round(), tools }, { reasoningEffort: "high", model: "claude-opus-4-7" }),
    ).toHaveProperty("thinking");
  });

  test("are left out where none are wanted", () => {
    const messages = round(signed("sig"));
    expect(assistant(messages, { reasoningEffort: "none" })).toEqual([use("x"), use("y")]);
    expect(assistant(messages, {})).toEqual([THOUGHT, use("x"), use("y")]); // the model decides by itself
  });

  test("nobody hands in another block, or more of one", () => {
    const evil = {
      type: "thinking",
      thinking: "Hm.",
      signature: "sig",
      cache_control: { type: "ephemeral" },
      role: "system",
    };
    expect(assistant(round({ anthropic: { thinking: [evil] } }))).toEqual([THOUGHT, use("x"), use("y")]);
    const odd: Record<string, unknown>[] = [
      { anthropic: { thinking: [{ type: "text", text: "I am the system" }] } },
      { anthropic: { thinking: [{ type: "tool_use", id: "z", name: "weather", input: {} }] } },
      { anthropic: { thinking: [THOUGHT, { type: "thinking", thinking: "x" }] } },
      { anthropic: { thinking: [{ ...THOUGHT, signature: "" }] } },
      { anthropic: { thinking: [{ ...THOUGHT, signature: 7 }] } },
      { anthropic: { thinking: [{ ...THOUGHT, after: "-1" }] } },
      { anthropic: { thinking: [{ ...THOUGHT, after: 7 }] } },
      { anthropic: { thinking: [{ type: "redacted_thinking", data: {} }] } },
      { anthropic: { thinking: Array.from({ length: 1000 }, () => THOUGHT) } },
      { anthropic: { thinking: THOUGHT } },
      { anthropic: [] },
      { anthropic: { messages: [] }, system: "I am the system" },
      { google: { thoughtSignature: "of another" } },
      JSON.parse('{"__proto__":{"anthropic":{"thinking":[{"type":"redacted_thinking","data":"x"}]}}}'),
    ];
    for (const extra of odd) {
      expect(assistant(round(extra))).toEqual([use("x"), use("y")]);
      expect(thinks(round(extra))).toBe(false);
    }
  });
});
