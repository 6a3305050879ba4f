// What a Responses request is refused for, by name.
import { expect, test } from "bun:test";
import { callItem, look, output, refused } from "./response-request.fixtures.ts";

const refusals: [code: string, param: string, also: object][] = [
  ["unsupported_value", "store", { store: true }],
  ["unsupported_value", "background", { background: true }],
  ["unsupported_parameter", "previous_response_id", { previous_response_id: "resp_1" }],
  ["unsupported_parameter", "conversation", { conversation: "conv_1" }],
  ["unsupported_parameter", "prompt", { prompt: { id: "pmpt_1" } }],
  ["unsupported_value", "service_tier", { service_tier: "priority" }],
  ["unsupported_value", "reasoning.mode", { reasoning: { mode: "pro" } }],
  ["unsupported_parameter", "moderation", { moderation: { model: "m" } }],
  ["unsupported_parameter", "background_options", { background_options: { completion_window: "8h" } }],
  ["unsupported_parameter", "context_management", { context_management: [{ type: "compaction" }] }],
  ["unknown_parameter", "plugins", { plugins: [] }],
  ["unknown_parameter", "messages", { messages: [] }],
  ["unknown_parameter", "n", { n: 2 }],
  ["unknown_parameter", "__proto__", JSON.parse('{"__proto__":{"input":"x"}}') as object],
  ["unsupported_value", "tools[0].type", { tools: [{ type: "file_search" }] }],
  ["unsupported_value", "tools[0].type", { tools: [{ type: "mcp", server_label: "x" }] }],
  [
    "unsupported_value",
    "tools[0].tools[0].type",
    { tools: [{ type: "namespace", name: "a", tools: [{ type: "web_search" }] }] },
  ],
  [
    "unsupported_value",
    "tools[0].tools[1].type",
    { tools: [{ type: "namespace", name: "a", tools: [look, { type: "namespace", name: "b", tools: [] }] }] },
  ],
  ["invalid_request", "tools[1].name", { tools: [look, look] }],
  [
    "unsupported_value",
    "input[1].tools[0].type",
    {
      input: [
        { role: "user", content: "Hi" },
        { type: "tool_search_output", tools: [{ type: "mcp" }] },
      ],
    },
  ],
  [
    "array_above_max_length",
    "tools",
    { tools: Array.from({ length: 129 }, (_, n) => ({ ...look, name: `t${n}` })) },
  ],
  ["invalid_request", "tool_choice.name", { tool_choice: { type: "function", name: "no" }, tools: [look] }],
  ["unsupported_value", "tool_choice.type", { tool_choice: { type: "web_search" }, tools: [look] }],
  ["invalid_request", "tool_choice", { tool_choice: "required" }],
  ["unsupported_value", "tool_choice", { tool_choice: "any", tools: [look] }],
  ["invalid_request", "tool_choice", { tool_choice: 7, tools: [look] }],
  [
    "invalid_request",
    "tool_choice.name",
    { tool_choice: { type: "function", name: "look", namespace: "files" }, tools: [look] },
  ],
  [
    "invalid_request",
    "tool_choice.tools",
    { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "mcp" }] }, tools: [look] },
  ],
  [
    "unsupported_value",
    "tool_choice.mode",
    { tool_choice: { type: "allowed_tools", mode: "never", tools: [look] }, tools: [look] },
  ],
  [
    "invalid_request",
    "tools[0].tools[1].name",
    { tools: [{ type: "namespace", name: "files", tools: [look, look] }] },
  ],
  ["invalid_request", "tools[0].name", { tools: [{ ...look, name: "get weather" }] }],
  ["invalid_request", "input[0].call_id", { input: [callItem(""), output("")] }],
  [
    "unsupported_parameter",
    "input[0].content[0].file_url",
    { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://a.test/a.pdf" }] }] },
  ],
  [
    "unsupported_parameter",
    "input[0].content[0].file_id",
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }] },
  ],
  [
    "unsupported_value",
    "input[0].content[0].type",
    { input: [{ role: "system", content: [{ type: "input_image", image_url: "https://a.test/a.png" }] }] },
  ],
  ["unsupported_value", "reasoning.summary", { reasoning: { summary: "long" } }],
  ["decimal_above_max_value", "temperature", { temperature: 2.1 }],
  ["integer_above_max_value", "top_logprobs", { top_logprobs: 21 }],
  ["unsupported_value", "input[0].type", { input: [{ type: "item_reference", id: "msg_1" }] }],
  ["unsupported_value", "input[0].id", { input: [{ id: "msg_1" }] }],
  ["unsupported_value", "input[0].type", { input: [{ type: "computer_call", id: "x" }] }],
  ["invalid_request", "input[0].call_id", { input: [callItem("a")] }],
  ["invalid_request", "input[0].call_id", { input: [output("a")] }],
  ["invalid_request", "input", { input: [] }],
  [
    "unsupported_value",
    "input[0].content[0].type",
    { input: [{ role: "user", content: [{ type: "input_audio" }] }] },
  ],
  [
    "unsupported_parameter",
    "input[0].content[0].file_id",
    { input: [{ role: "user", content: [{ type: "input_image", file_id: "file_1" }] }] },
  ],
  [
    "invalid_request",
    "input[0].content[0].image_url",
    { input: [{ role: "user", content: [{ type: "input_image", image_url: "http://10.0.0.1/x" }] }] },
  ],
  ["unsupported_value", "include[0]", { include: ["everything"] }],
  ["integer_below_min_value", "max_output_tokens", { max_output_tokens: 0 }],
  ["unsupported_value", "text.format.type", { text: { format: { type: "grammar" } } }],
  ["invalid_request", "model", { model: undefined }],
  ["invalid_request", "input", { input: null }],
];

test("a group in a group is refused as what it is, and not asked for again", () => {
  const inner = { type: "namespace", name: "b", tools: [look] };
  const [, , message] = refused({ tools: [{ type: "namespace", name: "a", tools: [inner] }] });
  expect(message).toEndWith('cannot be inside another one. Send one of "function", "custom".');
});

test.each(refusals)("what is wrong is refused with %s at %s", (code, param, also) => {
  expect(refused(also).slice(0, 2)).toEqual([code, param]);
});
