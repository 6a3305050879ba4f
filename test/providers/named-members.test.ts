// A provider's 400 names the member that it rejects, in its own terms; the caller gets it in the caller's terms, on
// each surface and from each provider shape: with its path if the request was passed through, by the member alone if
// it was translated.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { claude, converse, DOORS, FUNCTION, gemini, openai, SCHEMA } from "./refusing.ts";
import { type Scripted, startScripted } from "./scripted.ts";

let scripted: Scripted;
beforeAll(async () => {
  scripted = await startScripted();
});
afterAll(() => scripted.stop());

type Shape = "openai" | "responses" | "claude" | "gemini" | "bedrock";

const OTHERS = "502";
const OVER = claude("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens");
const IMAGE = claude("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum");
const SYSTEM = claude("system: text content blocks must be non-empty");
const TOOL = claude("tools.0.custom.input_schema: JSON schema is invalid");
const FORMAT = claude("output_config.format.schema: additionalProperties must be explicitly set");
const STOPS = claude("stop_sequences: each must contain non-whitespace");
const BEYOND = gemini(
  "Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
);
const CHAT_TOOLS = { tools: [FUNCTION] };
const CLAUDE_TOOLS = { tools: [{ name: "look", input_schema: SCHEMA }] };
const RESPONSES_TOOLS = { tools: [{ type: "function", name: "look", parameters: SCHEMA }] };
const SCHEMA_OF_CHAT = {
  response_format: { type: "json_schema", json_schema: { name: "s", schema: SCHEMA } },
};
const SCHEMA_OF_MESSAGES = { output_config: { format: { type: "json_schema", schema: SCHEMA } } };
const SCHEMA_OF_RESPONSES = { text: { format: { type: "json_schema", name: "s", schema: SCHEMA } } };
/**
 * Earlier output of the model, with a thinking block that its vendor has not signed: it is left out, so that indexes
 * change.
 */
const MOVED = {
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "" }] },
    { role: "user", content: [{ type: "text", text: "again" }] },
  ],
};

type Case = [door: keyof typeof DOORS, of: Shape, said: object, also: object, param: string];

const CASES: Case[] = [
  // Chat completions to a provider of its shape: paths are the caller's.
  [
    "chat",
    "openai",
    openai("messages[1].content[1].image_url.url"),
    {},
    "messages[1].content[1].image_url.url",
  ],
  ["chat", "openai", openai("tools[0].function.parameters"), CHAT_TOOLS, "tools[0].function.parameters"],
  ["chat", "openai", openai("response_format"), SCHEMA_OF_CHAT, "response_format"],
  ["chat", "openai", openai("response_format"), {}, OTHERS],
  // … translated.
  ["chat", "claude", IMAGE, {}, "messages"],
  ["chat", "claude", SYSTEM, {}, "messages"],
  ["chat", "claude", TOOL, CHAT_TOOLS, "tools"],
  ["chat", "claude", FORMAT, SCHEMA_OF_CHAT, "response_format"],
  ["chat", "claude", OVER, { max_tokens: 64 }, "max_tokens"],
  ["chat", "claude", OVER, {}, OTHERS],
  ["chat", "claude", STOPS, { stop: ["x"] }, "stop"],
  ["chat", "claude", claude("metadata.user_id: Input should be a valid string"), { user: "u" }, OTHERS],
  ["chat", "gemini", gemini("Invalid value", "generation_config.top_p"), { top_p: 0.5 }, "top_p"],
  [
    "chat",
    "gemini",
    gemini("* GenerateContentRequest.generation_config.response_schema: should be non-empty"),
    SCHEMA_OF_CHAT,
    "response_format",
  ],
  [
    "chat",
    "gemini",
    gemini("Invalid value at 'generationConfig.topP' (TYPE_FLOAT)"),
    { top_p: 0.5 },
    "top_p",
  ],
  [
    "chat",
    "gemini",
    gemini("* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name."),
    CHAT_TOOLS,
    "tools",
  ],
  ["chat", "gemini", BEYOND, { max_tokens: 64 }, "max_tokens"],
  ["chat", "gemini", BEYOND, {}, OTHERS],
  [
    "chat",
    "gemini",
    gemini(
      "Unable to submit request because it has a topP value of 2 but the supported range is from 0 (inclusive) to 1 (inclusive).",
    ),
    { top_p: 0.5 },
    "top_p",
  ],
  ["chat", "bedrock", converse("inferenceConfig.topP"), { top_p: 0.5 }, "top_p"],
  ["chat", "bedrock", converse("inferenceConfig.maxTokens"), { max_tokens: 64 }, "max_tokens"],
  ["chat", "bedrock", converse("inferenceConfig.maxTokens"), {}, OTHERS],
  ["chat", "bedrock", converse("messages.1.member.content.1.member.image.source.bytes"), {}, "messages"],
  ["chat", "bedrock", converse("toolConfig.tools.1.member.toolSpec.name"), CHAT_TOOLS, "tools"],
  [
    "chat",
    "bedrock",
    {
      message:
        "The model returned the following errors: messages.0.content.1.image.source.base64.data: Could not process image",
    },
    {},
    "messages",
  ],
  // Completions are always translated.
  ["completions", "openai", openai("messages[0].content"), {}, "prompt"],
  ["completions", "openai", openai("max_completion_tokens"), { max_tokens: 9 }, "max_tokens"],
  ["completions", "claude", claude("messages.0.content: too long"), {}, "prompt"],
  // Messages to a provider of its shape: by path, without the vendor's own names for kinds of things.
  ["messages", "claude", IMAGE, {}, "messages[0].content[1].source"],
  [
    "messages",
    "claude",
    claude("messages.0.content.0.text.text: Field required"),
    {},
    "messages[0].content[0].text",
  ],
  ["messages", "claude", SYSTEM, {}, "system"],
  ["messages", "claude", TOOL, CLAUDE_TOOLS, "tools[0].input_schema"],
  [
    "messages",
    "claude",
    claude("tools.0.input_schema.type: Field required"),
    CLAUDE_TOOLS,
    "tools[0].input_schema.type",
  ],
  ["messages", "claude", FORMAT, SCHEMA_OF_MESSAGES, "output_config.format.schema"],
  ["messages", "claude", OVER, {}, "max_tokens"],
  ["messages", "claude", STOPS, { stop_sequences: ["x"] }, "stop_sequences"],
  ["messages", "claude", claude("top_k: Input should be greater than or equal to 0"), { top_k: 5 }, "top_k"],
  [
    "messages",
    "claude",
    claude("metadata.user_id: Input should be a valid string"),
    { metadata: { user_id: "u" } },
    OTHERS,
  ],
  ["messages", "claude", claude("model: claude-none"), {}, OTHERS],
  ["messages", "claude", claude("future_switch: Extra inputs are not permitted"), {}, OTHERS],
  ["messages", "claude", claude("messages.1.content.0.text.text: Field required"), MOVED, "messages"],
  // … translated.
  ["messages", "openai", openai("messages[1].content[1].image_url.url"), {}, "messages"],
  ["messages", "openai", openai("messages[0].content"), {}, "messages"],
  ["messages", "openai", openai("tools[0].function.parameters"), CLAUDE_TOOLS, "tools"],
  ["messages", "openai", openai("stop[0]"), { stop_sequences: ["x"] }, "stop_sequences"],
  ["messages", "openai", openai("max_completion_tokens"), {}, "max_tokens"],
  [
    "messages",
    "openai",
    openai("response_format.json_schema.schema"),
    SCHEMA_OF_MESSAGES,
    "output_config.format",
  ],
  ["messages", "openai", openai("reasoning_effort"), SCHEMA_OF_MESSAGES, OTHERS],
  ["messages", "gemini", gemini("Invalid value", "generation_config.top_p"), { top_p: 0.5 }, "top_p"],
  [
    "messages",
    "gemini",
    gemini("Invalid value", "generation_config.stop_sequences"),
    { stop_sequences: ["x"] },
    "stop_sequences",
  ],
  [
    "messages",
    "gemini",
    gemini("Invalid value", "tools[0].function_declarations[0].name"),
    CLAUDE_TOOLS,
    "tools",
  ],
  [
    "messages",
    "bedrock",
    converse("inferenceConfig.stopSequences"),
    { stop_sequences: ["x"] },
    "stop_sequences",
  ],
  ["messages", "bedrock", converse("system.1.member.text"), {}, "system"],
  ["messages", "bedrock", converse("messages.1.member.content"), {}, "messages"],
  // Responses to a provider of its shape.
  ["responses", "responses", openai("input[0].content[1].image_url"), {}, "input[0].content[1].image_url"],
  ["responses", "responses", openai("text.format.schema"), SCHEMA_OF_RESPONSES, "text.format.schema"],
  ["responses", "responses", openai("tools[0].parameters"), RESPONSES_TOOLS, "tools[0].parameters"],
  ["responses", "responses", openai("max_output_tokens"), { max_output_tokens: 64 }, "max_output_tokens"],
  ["responses", "responses", openai("instructions"), {}, "instructions"],
  // … translated.
  ["responses", "openai", openai("messages[1].content[1].image_url.url"), {}, "input"],
  ["responses", "openai", openai("response_format.json_schema.schema"), SCHEMA_OF_RESPONSES, "text.format"],
  ["responses", "openai", openai("tools[0].function.parameters"), RESPONSES_TOOLS, "tools"],
  ["responses", "claude", SYSTEM, {}, "instructions"],
  ["responses", "claude", IMAGE, {}, "input"],
  ["responses", "claude", TOOL, RESPONSES_TOOLS, "tools"],
  ["responses", "gemini", gemini("Invalid value", "generation_config.top_p"), { top_p: 0.5 }, "top_p"],
  ["responses", "gemini", BEYOND, { max_output_tokens: 64 }, "max_output_tokens"],
  ["responses", "bedrock", converse("system.1.member.text"), {}, "instructions"],
  [
    "responses",
    "bedrock",
    converse("inferenceConfig.maxTokens"),
    { max_output_tokens: 64 },
    "max_output_tokens",
  ],
  // Embeddings are passed through.
  ["embeddings", "openai", openai("input[1]"), {}, "input[1]"],
  ["embeddings", "openai", openai("dimensions"), { dimensions: 8 }, "dimensions"],
  ["embeddings", "openai", openai("model", "The model does not exist"), {}, OTHERS],
];

interface Told {
  error: { param: string | null; code: string; message: string };
}

/** Its message, or the field that it names beside it. */
function wordsOf(said: object): string {
  const { error, message = "" } = said as { error?: { message: string; param?: string }; message?: string };
  return (error?.param ?? error?.message ?? message).slice(0, 70);
}

const TITLED = CASES.map(
  ([door, of, said, also, param], n) =>
    [`${n + 1}. ${door} at ${of}: ${wordsOf(said)}`, param, { door, of, said, also }] as const,
);

test.each(TITLED)("%s: that is %s", async (_, param, { door, of, said, also }) => {
  scripted.says(JSON.stringify(said), 400);
  const at = DOORS[door];
  const { status, text } = await scripted.post(at.path, { ...at.body(of), ...also });
  const { error } = JSON.parse(text) as Told;
  if (param === OTHERS) {
    expect([status, error.code, error.param ?? null]).toEqual([502, "provider_error", null]);
    return;
  }
  expect([status, error.code, error.param]).toEqual([400, "invalid_request", param]);
  expect(error.message).toContain(` ${param}.`);
});
