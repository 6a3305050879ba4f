// Text that a provider or its guardrail wrote instead of the model: it is passed on, and not charged for if no usage
// was reported, or zero (docs/decisions/0030-a-zero-beside-text.md).
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  block,
  candidate,
  chunk,
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

const WORDS = "Sorry, I cannot help with that: this request was blocked by a policy of the house.";
const json = (body: object): string => JSON.stringify(body);

const refusing = { stop_reason: "refusal", stop_details: { type: "refusal", explanation: WORDS } };
const claude = (input: number, output: number): [Script, Script] => [
  events(
    started({ input_tokens: input, output_tokens: 0 }),
    { type: "message_delta", delta: refusing, usage: { output_tokens: output } },
    { type: "message_stop" },
  ),
  json({
    id: "msg_up",
    type: "message",
    role: "assistant",
    content: [],
    ...refusing,
    usage: { input_tokens: input, output_tokens: output },
  }),
];
const used = (inputTokens: number, outputTokens: number): object => ({
  usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
});
const bedrock = (usage: object | null, stopReason = "guardrail_intervened"): [Script, Script] => [
  frames(
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: WORDS } }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["messageStop", { stopReason }],
    ...(usage === null ? [] : ([["metadata", usage]] as [string, object][])),
  ),
  json({ output: { message: { role: "assistant", content: [{ text: WORDS }] } }, stopReason, ...usage }),
];
const blocked = (usageMetadata: object | null): [Script, Script] => {
  const body = { promptFeedback: { blockReason: "SAFETY" }, ...(usageMetadata && { usageMetadata }) };
  return [events(body), json(body)];
};
const openai = (message: object, finish: string, usage: object | null): [Script, Script] => [
  events(
    chunk({ role: "assistant", ...message }),
    chunk({}, finish),
    ...(usage ? [{ choices: [], usage }] : []),
  ),
  json({ choices: [{ index: 0, message, finish_reason: finish }], ...(usage && { usage }) }),
];
const tokens = (prompt: number, completion: number): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

/** The reported usage, as it is charged; null: none. */
const ROWS: [string, string, [Script, Script], [number, number] | null][] = [
  ["Anthropic's explanation, of nothing that ran", "claude", claude(0, 0), [0, 0]],
  ["Anthropic's explanation, behind a prompt that was read", "claude", claude(25, 0), [25, 0]],
  ["Anthropic's explanation, behind some words", "claude", claude(25, 3), [25, 3]],
  ["a guardrail's words, of nothing that ran", "bedrock", bedrock(used(0, 0)), [0, 0]],
  ["a guardrail's words, in place of an answer", "bedrock", bedrock(used(20, 0)), [20, 0]],
  ["a guardrail's words, in place of a longer answer", "bedrock", bedrock(used(20, 90)), [20, 90]],
  ["a guardrail's words, and nothing told", "bedrock", bedrock(null), null],
  ["Gemini's block, told", "gemini", blocked({ promptTokenCount: 7, totalTokenCount: 7 }), [7, 0]],
  ["Gemini's block, and nothing told", "gemini", blocked(null), null],
  [
    "words behind which a filter stands, told as nothing",
    "openai",
    openai({ content: WORDS }, "content_filter", tokens(0, 0)),
    [0, 0],
  ],
  ["a filter that let nothing through", "openai", openai({ content: "" }, "content_filter", null), null],
  ["a refusal told as nothing", "openai", openai({ refusal: WORDS }, "stop", tokens(20, 0)), [20, 0]],
  ["a refusal that was counted", "openai", openai({ refusal: WORDS }, "stop", tokens(20, 18)), [20, 18]],
];

for (const surface of ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
  for (const stream of [true, false])
    test.each(ROWS)(`${surface}, ${stream ? "streamed" : "whole"}: %s`, async (_, shape, scripts, told) => {
      house.says(scripts[stream ? 0 : 1]);
      const body =
        surface === "/v1/responses"
          ? { model: shape, input: "Say hello", max_output_tokens: 200, stream, store: false }
          : question(shape, { stream });
      const { status, text, record } = await house.post(surface, body);
      expect(status).toBe(200);
      if (!_.includes("Gemini") && !_.includes("nothing through"))
        expect(text).toContain("blocked by a policy");
      expect(record.state).toBe("settled");
      if (told === null) expect(record).toMatchObject({ evidence: "none", charge: 0n });
      else {
        const [promptTokens, completionTokens] = told;
        expect(record.usage).toMatchObject({ promptTokens, completionTokens });
        expect(record.evidence).toBe("provider_usage");
        expect(record.charge < 1_000_000n).toBe(true);
      }
      expect(record.attempts).toMatchObject([{ outcome: "answered" }]);
    });

test.each([
  [
    "the model's own words disprove a zero, as before",
    "openai",
    openai({ content: WORDS }, "stop", tokens(20, 0)),
  ],
  [
    "and are counted where nothing was told, also behind a filter",
    "openai",
    openai({ content: WORDS }, "content_filter", null),
  ],
  ["and so is a refusal of the model's own", "openai", openai({ refusal: WORDS }, "stop", null)],
  ["so are those that a filter of the model's output cut", "bedrock", bedrock(null, "content_filtered")],
])("%s", async (_, shape, scripts) => {
  for (const stream of [true, false]) {
    house.says(scripts[stream ? 0 : 1]);
    const { record } = await house.post("/v1/chat/completions", question(shape, { stream }));
    expect(record.evidence).toBe("delivered_tokens");
    expect(record.usage?.completionTokens).toBe(19);
  }
});

test("a guardrail after a beginning by the model: the reported usage counts, and a stream that its client leaves costs its text", async () => {
  const hello = block({ type: "text", text: "" }, { type: "text_delta", text: "Hello" });
  house.says(
    events(
      started(),
      ...hello,
      { type: "message_delta", delta: refusing, usage: { output_tokens: 2 } },
      {
        type: "message_stop",
      },
    ),
  );
  const { record } = await house.post("/v1/chat/completions", question("claude"));
  expect(record.usage).toMatchObject({ promptTokens: 20, completionTokens: 2 });
  house.says(events(candidate([{ text: WORDS }], "SAFETY")));
  const gemini = await house.post("/v1/chat/completions", question("gemini"));
  expect(gemini.record.evidence).toBe("delivered_tokens");
});
