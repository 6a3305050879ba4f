// The simulator rejects what the vendor would: a test that passes on it means something.
import { expect, test } from "bun:test";
import { samplePdf } from "../../../lib/pdf.fixtures.ts";
import { FaceRefusal } from "../face.ts";
import { readClaudeCall } from "./request.ts";
import { thoughtSeal } from "./seal.ts";

const says = (text: string): object => ({ type: "text", text });
const asks = (...content: object[]): object => ({ role: "user", content });
const replies = (...content: object[]): object => ({ role: "assistant", content });
const tells = (content: string): object => ({ role: "system", content });
const use = (id: string): object => ({ type: "tool_use", id, name: "weather", input: {} });
const result = (tool_use_id: string): object => ({ type: "tool_result", tool_use_id });
const thought = (thinking: string, signature = thoughtSeal(thinking)): object => ({
  type: "thinking",
  thinking,
  signature,
});
const tools = [{ name: "weather", input_schema: { type: "object" } }];
const thinking = { type: "enabled", budget_tokens: 1024 };
const SOUND = { model: "claude-1", max_tokens: 4096, messages: [asks(says("Hi"))] };
const PDF = samplePdf().toString("base64");
const inline = (source: object = {}): object => ({
  type: "base64",
  media_type: "application/pdf",
  data: PDF,
  ...source,
});
const document = (source?: object, also: object = {}): object => ({
  type: "document",
  source: inline(source),
  ...also,
});
const round = (...content: object[]): object[] => [asks(says("Hi")), replies(...content), asks(result("a"))];

test.each<[string, object]>([
  ["the smallest", {}],
  ["two turns of one role", { messages: [asks(says("a")), { role: "user", content: "b" }] }],
  ["a system turn", { model: "claude-opus-4-8", messages: [asks(says("a")), tells("b")] }],
  ["a mark", { messages: [asks({ ...says("Hi"), cache_control: { type: "ephemeral", ttl: "1h" } })] }],
  ["words alone", { system: "Be brief.", messages: [{ role: "user", content: "Hi" }] }],
  ["a round of tools", { tools, messages: round(use("a")) }],
  ["a document", { messages: [asks(document({}, { title: "report.pdf" }), document())] }],
  ["with its thought", { tools, thinking, messages: round(thought("Hm."), use("a")) }],
  [
    "a round without thoughts, where the model decides",
    { tools, thinking: { type: "adaptive" }, messages: round(use("a")) },
  ],
  [
    "a round without thoughts, long ago",
    { tools, thinking, messages: [...round(use("a")), replies(says("Rain.")), asks(says("Hm"))] },
  ],
])("takes %s", (_, change) => {
  expect(readClaudeCall({ ...SOUND, ...change })).toMatchObject({ max_tokens: 4096 });
});

test.each<[string, object]>([
  ["max_tokens", { max_tokens: undefined }],
  ["Extra inputs are not permitted", { frequency_penalty: 1 }],
  ["Extra inputs are not permitted", { messages: [asks({ ...says("Hi"), more: 1 })] }],
  ["non-whitespace", { messages: [asks(says(" "))] }],
  ["source.media_type", { messages: [asks(document({ media_type: "application/msword" }))] }],
  ["source.data", { messages: [asks(document({ data: `${PDF}!` }))] }],
  ["title", { messages: [asks(document({}, { title: "" }))] }],
  ["Extra inputs are not permitted", { messages: [asks(document({}, { name: "report.pdf" }))] }],
  ["document blocks", { messages: [asks(says("a")), replies(document()), asks(says("b"))] }],
  ["user role", { messages: [replies(says("a"))] }],
  ["context_management", { context_management: { edits: [] } }],
  ["'system' is not", { model: "claude-opus-4-7", messages: [asks(says("a")), tells("b")] }],
  ["adaptive", { model: "claude-sonnet-4-5", thinking: { type: "adaptive" } }],
  ["enabled", { model: "claude-opus-4-8", thinking }],
  ["effort", { model: "claude-haiku-4-1", output_config: { effort: "low" } }],
  ["top_k", { model: "claude-opus-4-8", top_k: 3 }],
  ["cannot both", { model: "claude-sonnet-4-5", temperature: 0.5, top_p: 0.5 }],
  [
    "citations",
    {
      messages: [
        asks(says("a")),
        replies({ ...says("b"), citations: [{ encrypted_index: "" }] }),
        asks(says("c")),
      ],
    },
  ],
  ["end with a user", { messages: [asks(says("a")), replies(says("b"))] }],
  ["without tool_result", { tools, messages: [asks(says("a")), replies(use("a")), asks(says("b"))] }],
  ["unexpected tool_use_id", { tools, messages: [asks(result("a"))] }],
  [
    "unexpected tool_use_id",
    { tools, messages: [asks(says("a")), replies(use("a")), asks(result("a"), result("a"))] },
  ],
  [
    "must come first",
    { tools, messages: [asks(says("a")), replies(use("a")), asks(says("b"), result("a"))] },
  ],
  ["must be unique", { tools, messages: [...round(use("a")), replies(use("a")), asks(result("a"))] }],
  ["tools", { messages: round(use("a")) }],
  ["greater than thinking.budget_tokens", { thinking, max_tokens: 1024 }],
  ["budget_tokens", { thinking: { type: "enabled", budget_tokens: 1000 } }],
  ["temperature", { thinking, temperature: 0.5 }],
  ["temperature", { temperature: 1.5 }],
  ["tool_choice", { thinking, tools, tool_choice: { type: "any" } }],
  ["expected thinking", { tools, thinking, messages: round(use("a")) }],
  ["expected thinking", { tools, thinking, messages: round(says("Well."), thought("Hm."), use("a")) }],
  ["signature", { tools, thinking, messages: round(thought("Hm.", "forged"), use("a")) }],
  ["signature", { tools, messages: round(thought("changed", thoughtSeal("Hm.")), use("a")) }],
  [
    "maximum of 4",
    {
      messages: [
        asks(...Array.from({ length: 5 }, () => ({ ...says("Hi"), cache_control: { type: "ephemeral" } }))),
      ],
    },
  ],
  [
    "must not come after",
    {
      system: [{ ...says("Be brief."), cache_control: { type: "ephemeral" } }],
      messages: [asks({ ...says("Hi"), cache_control: { type: "ephemeral", ttl: "1h" } })],
    },
  ],
  ["stop_sequences", { stop_sequences: ["\n"] }],
])("refuses for %s", (word, change) => {
  const call = JSON.parse(JSON.stringify({ ...SOUND, ...change })) as unknown;
  expect(() => readClaudeCall(call)).toThrow(FaceRefusal);
  expect(() => readClaudeCall(call)).toThrow(word);
});
