import { describe, expect, test } from "bun:test";
import type { Message } from "../../domain/chat-request.ts";
import { Refusal } from "../../domain/refusals.ts";
import { said } from "./bedrock.fixtures.ts";

const { prepared, bodyOf, user, called, call, result, signed, thought, use, tools } = said;
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ADAPTIVE = "global.anthropic.claude-opus-4-6-v1:0";

describe("reasoning", () => {
  const additional = (
    model: string,
    reasoningEffort: string | null,
    how: object = {},
    ceiling = 4096,
  ): unknown => bodyOf({}, { model, reasoningEffort, ...how }, ceiling)["additionalModelRequestFields"];

  test("in the words of the family, inside the ceiling", () => {
    expect(additional(CLAUDE, "medium")).toEqual({ thinking: { type: "enabled", budget_tokens: 2048 } });
    expect(additional(CLAUDE, "medium", {}, 1024)).toBeUndefined(); // no room to think
    expect(additional(ADAPTIVE, "high")).toEqual({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
    expect(additional("us.amazon.nova-2-lite-v1:0", "high")).toEqual({
      reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" },
    });
    expect(additional("openai.gpt-oss-120b-1:0", "low")).toEqual({ reasoning_effort: "low" });
    for (const model of [CLAUDE, "us.amazon.nova-2-lite-v1:0", "openai.gpt-oss-120b-1:0", "meta.llama4-v1:0"])
      for (const mode of [null, "none"]) expect(additional(model, mode)).toBeUndefined();
    expect(additional("meta.llama4-v1:0", "high")).toBeUndefined();
    const profile = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x";
    expect(additional(profile, "low", { dialect: { family: "effort" } })).toEqual({
      reasoning_effort: "low",
    });
  });

  test("what does not go beside it is not sent, and named", () => {
    const how = { model: CLAUDE, reasoningEffort: "medium", temperature: 0.3 };
    const request = { temperature: 0.3, forwarded: { top_p: 0.5 } };
    expect(bodyOf(request, how)["inferenceConfig"]).toEqual({ maxTokens: 4096 });
    expect(prepared(request, how).ignored).toEqual(["temperature", "top_p"]);
    const nova = { ...how, model: "us.amazon.nova-2-lite-v1:0" };
    expect(bodyOf(request, nova)["inferenceConfig"]).toEqual({
      maxTokens: 4096,
      temperature: 0.3,
      topP: 0.5,
    });
  });

  const round = (extra?: Record<string, unknown>): Message[] => [
    user("a"),
    called(call("x", extra)),
    result("x"),
  ];
  const sent = (messages: Message[], model = CLAUDE): Record<string, unknown> =>
    bodyOf({ messages, tools }, { model, reasoningEffort: "medium" });
  const saidBy = (body: Record<string, unknown>): unknown =>
    (body["messages"] as { content: unknown }[])[1]?.content;

  test("what was signed comes back verbatim in front of its call", () => {
    const body = sent(round(signed("sig-1")));
    expect(saidBy(body)).toEqual([thought("sig-1"), use("x")]);
    expect(body).toHaveProperty("additionalModelRequestFields");
    const redacted = { bedrock: { by: "claude", reasoning: [{ index: 0, redacted: "c2VhbGVk" }] } };
    expect(saidBy(sent(round(redacted)))).toEqual([
      { reasoningContent: { redactedContent: "c2VhbGVk" } },
      use("x"),
    ]);
  });

  test("it stands where it stood in the text", () => {
    const extra = {
      bedrock: {
        by: "claude",
        reasoning: [
          { index: 0, text: "Hm.", signature: "s1" },
          { index: 1, text: "Hm.", signature: "s2", after: "5" },
        ],
      },
    };
    const message: Message = { role: "assistant", content: "First then", tool_calls: [call("x", extra)] };
    expect(saidBy(sent([user("a"), message, result("x")]))).toEqual([
      thought("s1"),
      { text: "First" },
      thought("s2"),
      { text: " then" },
      use("x"),
    ]);
  });

  test.each<[string, Record<string, unknown> | undefined]>([
    ["lost", undefined],
    [
      "another provider's",
      { anthropic: { thinking: [{ type: "thinking", thinking: "x", signature: "s" }] } },
    ],
    ["another model's", signed("sig-1", "openai.gpt-oss-120b-1:0")],
    [
      "half of it",
      { bedrock: { by: "claude", reasoning: [{ text: "Hm.", signature: "s" }, { text: "Hm." }] } },
    ],
    ["no list", { bedrock: { by: "claude", reasoning: { 0: {} } } }],
    ["an empty list", { bedrock: { by: "claude", reasoning: [] } }],
    [
      "a place that is none",
      { bedrock: { by: "claude", reasoning: [{ text: "", signature: "s", after: "-1" }] } },
    ],
    ["a sealed text that is none", { bedrock: { by: "claude", reasoning: [{ redacted: "<>" }] } }],
    ["a text", { bedrock: "x" }],
  ])("%s: the turn goes without thinking, as the model would refuse it", (_, extra) => {
    const body = sent(round(extra));
    expect(saidBy(body)).toEqual([use("x")]);
    expect(body).not.toHaveProperty("additionalModelRequestFields");
  });

  test("nothing but a block's own fields comes back with it", () => {
    const extra = {
      bedrock: {
        by: "claude",
        reasoning: [{ text: "Hm.", signature: "s", cachePoint: { type: "default" } }],
      },
    };
    expect(saidBy(sent(round(extra)))).toEqual([thought("s"), use("x")]);
  });

  test("a demanded tool and thinking exclude each other where thinking has a budget", () => {
    const how = { model: CLAUDE, reasoningEffort: "high" };
    expect(bodyOf({ tools, toolChoice: "required" }, how)).not.toHaveProperty("additionalModelRequestFields");
  });

  test("a model that cannot be told to call is not told so", () => {
    const how = { model: "us.anthropic.claude-opus-5-5-v1:0", reasoningEffort: null };
    expect(() => bodyOf({ tools, toolChoice: "required" }, how)).toThrow(Refusal);
  });
});
