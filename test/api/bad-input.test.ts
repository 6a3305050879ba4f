// The bad-input table of the design, lines 71–124: the right status and code, a request id, no provider call, no hold
// left, the process alive. Each line's number is in its name.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { filePart } from "../../src/lib/pdf.fixtures.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

const MODEL = "base-preview-v1";
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer({ usd: "1000" });
});
afterAll(() => gateway.stop());

const user = (content: unknown = "Say hello"): object => ({ role: "user", content });
const body = (fields: object = {}): object => ({ model: MODEL, messages: [user()], ...fields });
const messages = (...list: unknown[]): object => body({ messages: list });
const tool = (name: string, also: object = {}): object => ({ type: "function", function: { name, ...also } });
const called = (also: object = {}): object => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" }, ...also }],
});
const text = (json: string): string => json;

interface Line {
  line: string;
  send: unknown;
  status?: number;
  code: string;
  param?: string | null;
  says?: string;
}

const LINES: readonly Line[] = [
  // 2.4 JSON
  { line: "53 empty body", send: text(""), code: "invalid_json" },
  { line: "71 trailing comma", send: text(`{"model":"${MODEL}",}`), code: "invalid_json" },
  { line: "71 something after the object", send: text(`{}x`), code: "invalid_json" },
  { line: "71 NaN", send: text(`{"temperature":NaN}`), code: "invalid_json" },
  { line: "71 comment", send: text(`{/* */}`), code: "invalid_json" },
  { line: "71 cut off", send: text(`{"model":"x`), code: "invalid_json" },
  { line: "72 two byte order marks", send: text("\uFEFF\uFEFF{}"), code: "invalid_json" },
  { line: "74 NUL in a string", send: body({ model: "a\u0000b" }), code: "invalid_json" },
  { line: "75 65 levels deep", send: text(`${"[".repeat(65)}${"]".repeat(65)}`), code: "invalid_json" },
  {
    line: "75 200,000 levels deep",
    send: text(`${"[".repeat(200_000)}${"]".repeat(200_000)}`),
    code: "invalid_json",
  },
  { line: "76 a number beyond doubles", send: text(`{"temperature":1e400}`), code: "invalid_json" },
  { line: "77 array on top", send: text("[]"), code: "invalid_request" },
  { line: "77 string on top", send: text(`"x"`), code: "invalid_request" },
  { line: "77 null on top", send: text("null"), code: "invalid_request" },
  {
    line: "78 __proto__ on top",
    send: text(`{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"__proto__":{"a":1}}`),
    code: "unknown_parameter",
  },
  { line: "78 constructor on top", send: body({ constructor: 1 }), code: "unknown_parameter" },
  {
    line: "79 100,000 keys on top",
    send: Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, 1])),
    code: "unknown_parameter",
  },
  {
    line: "80 max_tokens -0",
    send:
      body({ max_tokens: -0 }) &&
      text(`{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"max_tokens":-0}`),
    code: "integer_below_min_value",
    param: "max_tokens",
  },
  // 2.5 Fields
  { line: "81 model missing", send: { messages: [user()] }, code: "invalid_request", param: "model" },
  { line: "81 model a number", send: body({ model: 5 }), code: "invalid_request", param: "model" },
  { line: "81 model empty", send: body({ model: "" }), code: "invalid_request", param: "model" },
  {
    line: "82 model of 10 KB",
    send: body({ model: "m".repeat(10_240) }),
    code: "string_above_max_length",
    param: "model",
  },
  {
    line: "83 model unknown",
    send: body({ model: "nope" }),
    status: 404,
    code: "model_not_found",
    param: "model",
  },
  {
    line: "83 model in other case",
    send: body({ model: MODEL.toUpperCase() }),
    status: 404,
    code: "model_not_found",
  },
  { line: "83 model with a path", send: body({ model: "../x" }), status: 404, code: "model_not_found" },
  { line: "83 model with a query", send: body({ model: "x?y" }), status: 404, code: "model_not_found" },
  { line: "84 messages missing", send: { model: MODEL }, code: "invalid_request", param: "messages" },
  { line: "84 messages null", send: body({ messages: null }), code: "invalid_request", param: "messages" },
  { line: "84 messages an object", send: body({ messages: {} }), code: "invalid_request", param: "messages" },
  { line: "84 messages empty", send: body({ messages: [] }), code: "invalid_request", param: "messages" },
  {
    line: "85 100,000 tiny messages",
    send: body({ messages: Array.from({ length: 100_000 }, () => user("x")) }),
    code: "context_length_exceeded",
  },
  {
    line: "86 role missing",
    send: messages({ content: "x" }),
    code: "invalid_request",
    param: "messages[0].role",
  },
  {
    line: "86 role a number",
    send: messages({ role: 1, content: "x" }),
    code: "invalid_request",
    param: "messages[0].role",
  },
  {
    line: "86 role robot",
    send: messages({ role: "robot", content: "x" }),
    code: "unsupported_value",
    param: "messages[0].role",
  },
  {
    line: "86 role function",
    send: messages({ role: "function", content: "x", name: "f" }),
    code: "unsupported_value",
    param: "messages[0].role",
  },
  {
    line: "87 user content missing",
    send: messages({ role: "user" }),
    code: "invalid_request",
    param: "messages[0].content",
  },
  {
    line: "87 user content a number",
    send: messages(user(5)),
    code: "invalid_request",
    param: "messages[0].content",
  },
  {
    line: "88 assistant content null without calls",
    send: messages(user(), { role: "assistant", content: null }),
    code: "invalid_request",
  },
  {
    line: "89 content as integers",
    send: messages(user([1, 2, 3])),
    code: "raw_token_ids_not_allowed",
    param: "messages[0].content",
  },
  ...[
    "http://169.254.169.254/",
    "file:///etc/passwd",
    "https://10.0.0.1/a.png",
    "https://example.com:8443/a.png",
  ].map((url) => ({
    line: `90 image at ${url}`,
    send: messages(user([{ type: "image_url", image_url: { url } }])),
    code: "invalid_request",
    param: "messages[0].content[0].image_url.url",
  })),
  {
    line: "91 image for a release without images",
    send: {
      model: "plain-1",
      messages: [user([{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }])],
    },
    code: "unsupported_value",
  },
  {
    line: "92 input_audio part",
    send: messages(user([{ type: "input_audio", input_audio: { data: "", format: "wav" } }])),
    code: "unsupported_value",
  },
  {
    line: "91 file for a release without files",
    send: { model: "plain-1", messages: [user([filePart()])] },
    code: "unsupported_value",
    param: "messages[0].content[0]",
  },
  {
    line: "92 uploaded file",
    send: messages(user([{ type: "file", file: { file_id: "x" } }])),
    code: "unsupported_parameter",
    param: "messages[0].content[0].file.file_id",
  },
  {
    line: "92 file at an address",
    send: messages(user([{ type: "file", file: { file_data: "https://example.com/a.pdf" } }])),
    code: "invalid_request",
    param: "messages[0].content[0].file.file_data",
  },
  {
    line: "92 file that is no PDF",
    send: messages(user([filePart(Buffer.from("GIF89a, and not a document"))])),
    code: "invalid_request",
    param: "messages[0].content[0].file.file_data",
  },
  {
    line: "93 tool message without tool_call_id",
    send: messages(user(), called(), { role: "tool", content: "x" }),
    code: "invalid_request",
  },
  {
    line: "93 tool message for an unknown call",
    send: messages(user(), called(), { role: "tool", content: "x", tool_call_id: "c2" }),
    code: "invalid_request",
  },
  {
    line: "94 a tool call nobody answers",
    send: messages(user(), called(), user()),
    code: "invalid_request",
    param: "messages[1].role",
  },
  {
    line: "95 arguments as an object",
    send: messages(user(), called({ function: { name: "f", arguments: {} } })),
    code: "invalid_request",
  },
  {
    line: "96 max_tokens 0",
    send: body({ max_tokens: 0 }),
    code: "integer_below_min_value",
    param: "max_tokens",
  },
  {
    line: "96 max_tokens -1",
    send: body({ max_tokens: -1 }),
    code: "integer_below_min_value",
    param: "max_tokens",
  },
  ...[1.5, "10", true].map((max_tokens) => ({
    line: `97 max_tokens ${JSON.stringify(max_tokens)}`,
    send: body({ max_tokens }),
    code: "invalid_request",
    param: "max_tokens",
  })),
  { line: "98 max_tokens 2^31", send: body({ max_tokens: 2 ** 31 }), code: "context_length_exceeded" },
  {
    line: "99 two different maxima",
    send: body({ max_tokens: 5, max_completion_tokens: 6 }),
    code: "invalid_request",
    param: "max_tokens",
  },
  {
    line: "100 prompt and max_tokens above the window",
    send: body({ max_tokens: 131_072 }),
    code: "context_length_exceeded",
  },
  ...[0, 5, 1e9].map((n) => ({
    line: `101 n ${n}`,
    send: body({ n }),
    code: "unsupported_value",
    param: "n",
  })),
  {
    line: "102 temperature -1",
    send: body({ temperature: -1 }),
    code: "decimal_below_min_value",
    param: "temperature",
  },
  {
    line: "102 temperature 3",
    send: body({ temperature: 3 }),
    code: "decimal_above_max_value",
    param: "temperature",
  },
  {
    line: "102 temperature as text",
    send: body({ temperature: "1" }),
    code: "invalid_request",
    param: "temperature",
  },
  { line: "103 top_p 1.1", send: body({ top_p: 1.1 }), code: "decimal_above_max_value", param: "top_p" },
  {
    line: "103 presence_penalty 2.1",
    send: body({ presence_penalty: 2.1 }),
    code: "decimal_above_max_value",
    param: "presence_penalty",
  },
  {
    line: "104 five stops",
    send: body({ stop: ["a", "b", "c", "d", "e"] }),
    code: "array_above_max_length",
    param: "stop",
  },
  { line: "104 stop an object", send: body({ stop: {} }), code: "invalid_request", param: "stop" },
  {
    line: "105 logprobs without the capability",
    send: { model: "plain-1", messages: [user()], logprobs: true },
    code: "unsupported_parameter",
    param: "logprobs",
  },
  {
    line: "105 top_logprobs 21",
    send: body({ logprobs: true, top_logprobs: 21 }),
    code: "integer_above_max_value",
    param: "top_logprobs",
  },
  ...["true", 1].map((stream) => ({
    line: `106 stream ${JSON.stringify(stream)}`,
    send: body({ stream }),
    code: "invalid_request",
    param: "stream",
  })),
  {
    line: "107 stream_options without stream",
    send: body({ stream_options: { include_usage: true } }),
    code: "invalid_request",
    param: "stream_options",
  },
  {
    line: "108 129 tools",
    send: body({ tools: Array.from({ length: 129 }, (_, n) => tool(`t${n}`)) }),
    code: "array_above_max_length",
    param: "tools",
  },
  { line: "109 tool name with a blank", send: body({ tools: [tool("a b")] }), code: "invalid_request" },
  {
    line: "109 tool name of 65 characters",
    send: body({ tools: [tool("t".repeat(65))] }),
    code: "string_above_max_length",
  },
  { line: "109 tool name twice", send: body({ tools: [tool("t"), tool("t")] }), code: "invalid_request" },
  {
    line: "110 custom tool",
    send: body({ tools: [{ type: "custom", custom: { name: "x" } }] }),
    code: "unsupported_value",
  },
  {
    line: "111 tool_choice of an unknown function",
    send: body({ tools: [tool("t")], tool_choice: tool("u") }),
    code: "invalid_request",
    param: "tool_choice.function.name",
  },
  {
    line: "111 required without tools",
    send: body({ tool_choice: "required" }),
    code: "invalid_request",
    param: "tool_choice",
  },
  {
    line: "112 effort unknown",
    send: body({ reasoning_effort: "extreme" }),
    code: "unsupported_value",
    param: "reasoning_effort",
    says: "medium",
  },
  {
    line: "112 effort in capitals",
    send: body({ reasoning_effort: "HIGH" }),
    code: "unsupported_value",
    param: "reasoning_effort",
  },
  {
    line: "112 effort not published",
    send: { model: "base-preview-v2", messages: [user()], reasoning_effort: "medium" },
    code: "unsupported_value",
    param: "reasoning_effort",
  },
  {
    line: "113 effort high, thinking disabled",
    send: body({ reasoning_effort: "high", thinking: { type: "disabled" } }),
    code: "contradictory_thinking",
  },
  {
    line: "113 effort none, thinking enabled",
    send: body({ reasoning_effort: "none", thinking: { type: "enabled" } }),
    code: "contradictory_thinking",
  },
  {
    line: "114 effort and a budget",
    send: body({ reasoning_effort: "high", thinking_budget: 100 }),
    code: "contradictory_thinking",
  },
  {
    line: "114 a budget alone",
    send: body({ thinking_budget: 100 }),
    code: "unsupported_parameter",
    param: "thinking_budget",
  },
  {
    line: "115 logit_bias",
    send: body({ logit_bias: { "50256": -100 } }),
    code: "raw_token_ids_not_allowed",
    param: "logit_bias",
  },
  {
    line: "115 input_ids",
    send: body({ input_ids: [1] }),
    code: "raw_token_ids_not_allowed",
    param: "input_ids",
  },
  {
    line: "115 stop_token_ids",
    send: body({ stop_token_ids: [1] }),
    code: "raw_token_ids_not_allowed",
    param: "stop_token_ids",
  },
  ...["lora", "adapter", "extra_body", "chat_template_kwargs"].map((name) => ({
    line: `116 ${name}`,
    send: body({ [name]: {} }),
    code: "runtime_adapter_not_allowed",
    param: name,
  })),
  ...["base_url", "api_key", "provider", "route", "gateway", "cost"].map((name) => ({
    line: `117 ${name}`,
    send: body({ [name]: "x" }),
    code: "unknown_parameter",
    param: name,
  })),
  ...["best_of", "use_beam_search", "ignore_eos", "made_up"].map((name) => ({
    line: `118 ${name}`,
    send: body({ [name]: 2 }),
    code: "unknown_parameter",
    param: name,
  })),
  {
    line: "119 service_tier flex",
    send: body({ service_tier: "flex" }),
    code: "unsupported_value",
    param: "service_tier",
  },
  { line: "119 store true", send: body({ store: true }), code: "unsupported_value", param: "store" },
  {
    line: "119 modalities audio",
    send: body({ modalities: ["text", "audio"] }),
    code: "unsupported_value",
    param: "modalities",
  },
  ...["audio", "prediction", "web_search_options", "functions"].map((name) => ({
    line: `120 ${name}`,
    send: body({ [name]: {} }),
    code: "unsupported_parameter",
    param: name,
  })),
  {
    line: "121 json_schema without the capability",
    send: {
      model: "plain-1",
      messages: [user()],
      response_format: { type: "json_schema", json_schema: { name: "x", schema: {} } },
    },
    code: "unsupported_value",
  },
];

test.each(LINES.map((entry) => [entry.line, entry] as const))(
  "%s",
  async (_, { send, status = 400, code, param, says }) => {
    const [before, calls] = [await gateway.balance(customer), gateway.simulator.bill().length];
    const reply = await gateway.chat<ErrorJson>(
      customer,
      typeof send === "string" ? send : JSON.stringify(send),
    );
    expect({ status: reply.status, code: reply.json.error.code }).toEqual({ status, code });
    expect(reply.json.error.request_id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(reply.headers.get("x-request-id")).toBe(reply.json.error.request_id);
    expect(reply.headers.get("x-should-retry")).toBe("false");
    if (param !== undefined) expect(reply.json.error.param).toBe(param);
    if (says !== undefined) expect(reply.json.error.message).toContain(says);
    expect(gateway.simulator.bill()).toHaveLength(calls);
    expect(await gateway.balance(customer)).toEqual(before);
  },
);

test.each([
  ["73 the byte 0xFF", [0x7b, 0xff, 0x7d]],
  ["73 an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
  ["73 a cut character", [0x22, 0xe2, 0x82, 0x22]],
])("%s is not UTF-8", async (_, bytes) => {
  const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: new Uint8Array(bytes),
  });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { code: "invalid_json" } });
});

test.each<[string, unknown]>([
  ["72 one byte order mark", `\uFEFF${JSON.stringify(body())}`],
  ["80 max_tokens 1.0", JSON.stringify(body({ max_tokens: 5 })).replace(":5", ":5.0")],
  [
    "78 __proto__ nested",
    `{"model":"${MODEL}","messages":[{"role":"user","content":"x","__proto__":{"role":"system"}}]}`,
  ],
  ["108 no tools in the list", body({ tools: [] })],
  ["122 a million characters, 125,000 tokens", messages(user("a".repeat(1_000_000)))],
  ["123 <|endoftext|> in text", messages(user("a <|endoftext|> b"))],
  [
    "122 blanks, emoji and CJK",
    messages(user(`${" ".repeat(20_000)}${"😀".repeat(2000)}${"漢".repeat(2000)}`)),
  ],
])("%s is served", async (_, send) => {
  expect((await gateway.chat(customer, send)).status).toBe(200);
});

test("100 a prompt and a maximum that just fit are served", async () => {
  const probe = await gateway.chat<ErrorJson>(customer, body({ max_tokens: 131_072 }));
  const prompt = Number(/\((\d+) in the messages/.exec(probe.json.error.message)?.[1]);
  expect(prompt).toBeGreaterThan(0);
  expect((await gateway.chat<ErrorJson>(customer, body({ max_tokens: 131_072 - prompt + 1 }))).status).toBe(
    400,
  );
  expect((await gateway.chat(customer, body({ max_tokens: 131_072 - prompt }))).status).toBe(200);
});

test("124 a data line in the model's text stays inside the JSON string", async () => {
  gateway.simulator.behave({ behaviour: { text: "a\n\ndata: [DONE]\n\nb" }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.chunks.some(({ choices }) => choices[0]?.delta.content === "a\n\ndata: [DONE]\n\nb")).toBe(
    true,
  );
  expect(events.done).toBe(true);
});

test("after all this nothing is held and the ledger is sound", () => gateway.assertSound());
