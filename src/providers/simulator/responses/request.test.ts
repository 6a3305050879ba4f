// The simulator rejects what the vendor would: a test that passes on it means something.
import { expect, test } from "bun:test";
import { filePart, samplePdf } from "../../../lib/pdf.fixtures.ts";
import { FaceRefusal } from "../face.ts";
import { askedOfResponses } from "./heard.ts";
import { readResponsesCall } from "./request.ts";
import { reasoningSeal } from "./seal.ts";

const SOUND = { model: "gpt-1", input: "Hi", store: false };
const call = { type: "function_call", id: "fc_1", call_id: "a", name: "look", arguments: "{}" };
const output = { type: "function_call_output", call_id: "a", output: "Seen" };
const thought = (sealed: unknown, also: object = { id: "rs_1" }): object => ({
  type: "reasoning",
  summary: [],
  encrypted_content: sealed,
  ...also,
});
const said = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
};

test.each<[string, object]>([
  ["the smallest", {}],
  ["a round of tools with its thought", { input: [thought(reasoningSeal("rs_1")), call, output] }],
  [
    "a thought as codex brings it back",
    { input: [thought(reasoningSeal("rs_1"), { id: "rs_1", content: null })] },
  ],
  ["a thought as the AI SDK brings it back", { input: [thought(reasoningSeal("rs_1"), {})] }],
  ["an answer that comes back without its id", { input: [said, { role: "user", content: "Why?" }] }],
  ["what a tool showed", { input: [call, { ...output, output: [{ type: "input_text", text: "Seen" }] }] }],
  [
    "a group of tools",
    { tools: [{ type: "namespace", name: "a", description: "", tools: [{ type: "custom", name: "b" }] }] },
  ],
])("takes %s", (_, change) => {
  expect(readResponsesCall({ ...SOUND, ...change })).toMatchObject({ model: "gpt-1" });
});

test("documents of users and of tools are read by the page; their data is no text of the prompt", () => {
  const { file } = filePart(samplePdf({ pages: 2 }));
  const part = { type: "input_file", ...file };
  const input = [{ role: "user", content: [part] }, call, { ...output, output: [part] }];
  const asked = askedOfResponses(readResponsesCall({ ...SOUND, input }));
  expect(asked.documentTokens).toBe(4 * 258);
  expect(JSON.stringify(asked.messages)).toContain("report.pdf");
  expect(JSON.stringify(asked.messages)).not.toContain(samplePdf({ pages: 2 }).toString("base64"));
  const nothing = { type: "input_file", ...filePart(Buffer.from("%PDF-1.7")).file };
  const empty = readResponsesCall({ ...SOUND, input: [{ role: "user", content: [nothing] }] });
  expect(() => askedOfResponses(empty)).toThrow("no pages");
});

test.each<[string, object]>([
  ["store", { store: true }],
  ["store", { store: undefined }],
  ["Unrecognized key", { frequency_penalty: 1 }],
  ["max_output_tokens", { max_output_tokens: 15 }],
  ["'input", { input: [] }],
  ["No tool output found", { input: [call] }],
  ["No tool call found", { input: [output] }],
  ["not found", { input: [thought(null)] }],
  ["could not be verified", { input: [thought("tollgate.sealed.x.y")] }],
  ["could not be verified", { input: [thought(reasoningSeal("rs_2"))] }],
  ["could not be verified", { input: [thought("made up", {})] }],
  ["'input", { input: [{ ...call, id: "call_1" }, output] }],
  ["'input", { input: [{ ...call, call_id: "x".repeat(65) }] }],
  ["'input", { input: [{ type: "item_reference", id: "msg_1" }] }],
  ["'tools", { tools: [{ type: "web_search" }] }],
  ["'tools", { tools: [{ type: "function", name: "a b" }] }],
  ["prompt_cache_key", { prompt_cache_key: "x".repeat(65) }],
])("refuses, with %s, what the vendor would", (words, change) => {
  const refused = (): unknown => readResponsesCall({ ...SOUND, ...change });
  expect(refused).toThrow(FaceRefusal);
  expect(refused).toThrow(words);
});
