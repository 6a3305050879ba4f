// Answers in which little or nothing is said, or not as it should be, in every shape: what the caller gets of them, what they cost,
// and whose failures they are (wire.md §8; money.md §4).
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  block,
  ended,
  events,
  question,
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
  "a native stream without a word keeps its events, and costs what was told: %s",
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

test("a stream of sealed reasoning alone keeps its events, and costs what was told", async () => {
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

test("a terminator where an end of the response should stand takes no word with it", async () => {
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
