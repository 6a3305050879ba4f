// What a Responses request says to any provider, and what it is refused for, by name.
import { expect, test } from "bun:test";
import type { ToolCall } from "../../../domain/chat-request.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { parseResponseRequest } from "./parse-response-request.ts";
import { sealState } from "./sealed-state.ts";

const BASE = { model: "m", input: "Hi" };
const read = (also: object) => parseResponseRequest({ ...BASE, ...also }).request;

function refused(also: object): [string, string | null, string] {
  try {
    read(also);
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.param, error.message];
    throw error;
  }
  throw new Error("accepted");
}

const look = { type: "function", name: "look", parameters: { type: "object" } };
const call = (id: string, also: object = {}) => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: "{}",
  ...also,
});
const output = (id: string, said: unknown = "seen") => ({
  type: "function_call_output",
  call_id: id,
  output: said,
});
const toolCall = (id: string, name = "look", text = "{}"): ToolCall => ({
  id,
  type: "function",
  function: { name, arguments: text },
});

test("instructions stand in front of the input, whichever form that has", () => {
  expect(read({ instructions: "Be brief" }).messages).toEqual([
    { role: "system", content: "Be brief" },
    { role: "user", content: "Hi" },
  ]);
  const parts = [
    { type: "input_text", text: "What is it?" },
    { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" },
  ];
  const said = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
  const request = read({
    input: [
      { role: "developer", content: "Be kind" },
      { type: "message", role: "user", content: parts },
      { ...said, content: [{ type: "output_text", text: "A dot", annotations: [] }] },
      { ...said, content: [{ type: "refusal", refusal: "No" }] },
      { role: "user", content: "Why?" },
    ],
  });
  expect(request.images).toBe(1);
  expect(request.messages).toEqual([
    { role: "developer", content: "Be kind" },
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: parts[1]?.image_url ?? "", detail: "low" } },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "A dot" }] },
    { role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
    { role: "user", content: "Why?" },
  ]);
});

test("calls join the turn that made them, and what tools said stands behind it, in whatever order it came", () => {
  const request = read({
    input: [
      { role: "user", content: "Go" },
      { role: "assistant", content: "I look" },
      call("a"),
      call("b"),
      { role: "user", content: "Hurry" },
      output("b", "two"),
      output("a", [{ type: "input_text", text: "one" }]),
      call("c"),
      output("c"),
    ],
  });
  expect(request.messages).toEqual([
    { role: "user", content: "Go" },
    { role: "assistant", content: "I look", tool_calls: [toolCall("a"), toolCall("b")] },
    { role: "tool", tool_call_id: "b", content: "two" },
    { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "one" }] },
    { role: "user", content: "Hurry" },
    { role: "assistant", content: null, tool_calls: [toolCall("c")] },
    { role: "tool", tool_call_id: "c", content: "seen" },
  ]);
});

test("a thought that is only named, as the AI SDK does where it has no seal of it, goes nowhere; the conversation goes on", () => {
  const input = [
    { role: "user", content: "Go" },
    { type: "item_reference", id: "rs_1" },
    call("a"),
    output("a"),
  ];
  const { request } = parseResponseRequest({ ...BASE, input });
  expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(request.ignored).toEqual(["item_reference"]);
  expect(request.native?.body["input"]).toEqual([input[0], input[2], input[3]]);
});

test("a thought that nobody sealed goes to no upstream: nothing is stored that it could be found by", () => {
  const thought = { id: "rs_1", type: "reasoning", summary: [] };
  const input = [{ role: "user", content: "Go" }, thought, call("a"), output("a")];
  const { request } = parseResponseRequest({ ...BASE, input });
  expect(request.native?.body["input"]).toEqual([input[0], input[2], input[3]]);
  expect(request.ignored).toEqual([]);
});

test("an image that a tool shows stands behind all that the tools of its turn said", () => {
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
  const { messages, images } = read({
    input: [{ role: "user", content: "Go" }, call("a"), call("b"), output("a", [image]), output("b")],
  });
  expect(images).toBe(1);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
  expect(messages.at(-1)?.content).toEqual([{ type: "image_url", image_url: { url: image.image_url } }]);
});

test("groups are flattened, free-text tools are functions of one string, searches are dropped; each has its name back", () => {
  const long = "x".repeat(70);
  const tools = [
    look,
    { type: "web_search", external_web_access: true },
    { type: "namespace", name: "mcp__files", description: "Files", tools: [look, { ...look, name: long }] },
    {
      type: "custom",
      name: "apply_patch",
      description: "Patches",
      format: { type: "grammar", syntax: "lark", definition: "start: X" },
    },
  ];
  const input = [
    { role: "user", content: "Go" },
    call("a", { namespace: "mcp__files" }),
    output("a"),
    { type: "custom_tool_call", call_id: "p", name: "apply_patch", input: '*** "quoted"' },
    { type: "custom_tool_call_output", call_id: "p", output: "Done" },
  ];
  const { request, offered } = parseResponseRequest({ ...BASE, tools, input });
  const names = request.tools.map(({ function: { name } }) => name);
  expect(names.slice(0, 2)).toEqual(["look", "mcp__files__look"]);
  expect(names[2]).toMatch(/^mcp__files__x{43}_[0-9a-f]{8}$/);
  expect(names[3]).toBe("apply_patch");
  expect(offered.byHeard.get(names[2] ?? "")).toEqual({
    kind: "function",
    name: long,
    namespace: "mcp__files",
  });
  expect(request.tools[3]?.function.description).toBe(
    "Patches\n\n`input` follows this lark grammar:\nstart: X",
  );
  expect(request.messages[1]?.tool_calls).toEqual([toolCall("a", "mcp__files__look")]);
  expect(request.messages[3]?.tool_calls).toEqual([
    toolCall("p", "apply_patch", JSON.stringify({ input: '*** "quoted"' })),
  ]);
  expect(request.ignored).toEqual(["tools.web_search"]);
  expect(request.native?.body["tools"]).toEqual([tools[0], tools[2], tools[3]]);
});

test("only what was sealed here comes back as reasoning, with the call that it belongs to", () => {
  const extra = { google: { thought_signature: "c2ln" } };
  const thought = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] };
  const asked = (sealed: string | null) =>
    read({
      input: [
        { role: "user", content: "Go" },
        { ...thought, encrypted_content: sealed },
        call("a"),
        output("a"),
      ],
    }).messages[1];
  const back = { role: "assistant", content: null } as const;
  expect(asked(sealState({ call: "a", extra }))).toEqual({
    ...back,
    tool_calls: [{ ...toolCall("a"), extra_content: extra }],
    reasoning_content: "Hm.",
  });
  expect(asked(sealState({ call: "b", extra }))).toEqual({
    ...back,
    tool_calls: [toolCall("a")],
    reasoning_content: "Hm.",
  });
  const forged = `tollgate.state.${Buffer.from('{"call":"a","extra":[1]}').toString("base64url")}`;
  const unnamed = `tollgate.state.${Buffer.from('{"call":7,"extra":{}}').toString("base64url")}`;
  const unmarked = `x${sealState({ call: "a", extra }).slice(1)}`;
  const huge = sealState({ call: "a", extra: { google: "x".repeat(4 * 1024 * 1024) } });
  const deep = `tollgate.state.${Buffer.from("[".repeat(9999)).toString("base64url")}`;
  for (const foreign of [
    null,
    "gAAAAABo",
    "tollgate.state.",
    "tollgate.state.e30",
    forged,
    unnamed,
    unmarked,
    huge,
    deep,
  ])
    expect(asked(foreign)).toEqual({ ...back, tool_calls: [toolCall("a")] });
});

test("what somebody says between a thought and an answer parts them", () => {
  const thought = {
    type: "reasoning",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: sealState({ call: null, extra: {} }),
  };
  const said = { role: "assistant", content: "Yes" };
  const go = { role: "user", content: "Go" };
  expect(read({ input: [go, thought, said] }).messages[1]).toEqual({
    ...said,
    reasoning_content: "Hm.",
  } as never);
  expect(read({ input: [go, thought, go, said] }).messages[2]).toEqual(said as never);
});

test("searches of any date are dropped, unasked ones too; other tools of the provider's are not", () => {
  for (const type of [
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
  ]) {
    const { ignored, native, tools } = read({ tools: [look, { type }] });
    expect([ignored, native?.body["tools"], tools.length]).toEqual([["tools.web_search"], [look], 1]);
  }
  for (const type of ["web_search_all", "my_web_search", "web_search_2025"])
    expect(refused({ tools: [{ type }] }).slice(0, 2)).toEqual(["unsupported_value", "tools[0].type"]);
});

test("a free-text tool without a grammar has its own description alone", () => {
  const patch = { type: "custom", name: "patch", description: "Patches", format: { type: "text" } };
  expect(read({ tools: [patch] }).tools[0]?.function.description).toBe("Patches");
});

test("a choice names tools by their groups, and allows what is offered", () => {
  const tools = [look, { type: "namespace", name: "files", tools: [{ ...look, name: "read" }] }];
  const grouped = { type: "function", name: "read", namespace: "files" };
  const heard = { type: "function", function: { name: "files__read" } };
  const choice = (tool_choice: unknown): unknown => read({ tools, tool_choice }).toolChoice;
  expect(choice(grouped)).toEqual(heard);
  const allowed = [grouped, { type: "web_search" }];
  expect(choice({ type: "allowed_tools", mode: "required", tools: allowed })).toEqual({
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [heard] },
  });
  for (const word of ["none", "auto"]) expect(read({ tool_choice: word }).toolChoice).toBeNull();
});

test("what only this shape says is named where another serves, and what says nothing is not", () => {
  const dropped = (also: object): unknown => read(also).native?.dropped;
  expect(dropped({ stream_options: { include_obfuscation: true } })).toEqual([
    "stream_options.include_obfuscation",
  ]);
  expect(dropped({ truncation: "auto" })).toEqual(["truncation"]);
  expect(dropped({ reasoning: { context: "auto" } })).toEqual(["reasoning.context"]);
  const usual = { stream_options: { include_obfuscation: false }, truncation: "disabled" };
  expect(dropped({ ...usual, text: { verbosity: "medium" } })).toEqual([]);
  expect(read({ text: { verbosity: "medium" } }).forwarded).toEqual({});
  for (const name of [
    "max_tool_calls",
    "prompt_cache_retention",
    "prompt_cache_options",
    "client_metadata",
  ]) {
    const { ignored, native } = read({ [name]: 1 });
    expect([ignored, native?.body]).toEqual([[name], BASE]);
  }
  const { ignored, native } = read({ service_tier: "default" });
  expect([ignored, native?.body]).toEqual([["service_tier"], BASE]);
});

test("the forms of text, thinking and sampling are those of every surface", () => {
  const schema = { type: "object" };
  const request = read({
    text: { format: { type: "json_schema", name: "a", schema, strict: true }, verbosity: "low" },
    reasoning: { effort: "high", summary: "auto" },
    max_output_tokens: 9,
    temperature: 0.5,
    top_p: 0.5,
    parallel_tool_calls: false,
    include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    top_logprobs: 2,
    prompt_cache_key: "k",
    stream: true,
    store: false,
    previous_response_id: null,
    service_tier: "auto",
    tools: [look],
    tool_choice: { type: "function", name: "look" },
  });
  expect(request).toMatchObject({
    responseFormat: { type: "json_schema", json_schema: { name: "a", schema, strict: true } },
    reasoning: { kind: "effort", effort: "high", param: "reasoning.effort" },
    maxTokens: 9,
    temperature: 0.5,
    forwarded: { top_p: 0.5, verbosity: "low", parallel_tool_calls: false },
    applied: { logprobs: true, top_logprobs: 2 },
    identifiers: { prompt_cache_key: "k" },
    stream: true,
    toolChoice: { type: "function", function: { name: "look" } },
    ignored: [],
  });
});

test("what is unknown goes through to this shape alone; what routes, costs or is stored goes nowhere", () => {
  const sent = { ...BASE, future: { b: 1, a: 2 }, metadata: { x: "y" }, client_metadata: { id: "z" } };
  const { ignored, native } = parseResponseRequest(sent).request;
  expect(ignored).toEqual(["metadata", "client_metadata"]);
  expect(native?.dropped).toEqual(["future"]);
  expect(JSON.stringify(native?.body)).toBe('{"model":"m","input":"Hi","future":{"b":1,"a":2}}');
  expect(native?.only).toBeNull();
});

const refusals: [code: string, param: string, also: object][] = [
  ["unsupported_value", "store", { store: true }],
  ["unsupported_value", "background", { background: true }],
  ["unsupported_parameter", "previous_response_id", { previous_response_id: "resp_1" }],
  ["unsupported_parameter", "conversation", { conversation: "conv_1" }],
  ["unsupported_parameter", "prompt", { prompt: { id: "pmpt_1" } }],
  ["unsupported_value", "service_tier", { service_tier: "priority" }],
  ["unsupported_value", "reasoning.mode", { reasoning: { mode: "pro" } }],
  ["unsupported_parameter", "moderation", { moderation: { model: "m" } }],
  ["unsupported_parameter", "context_management", { context_management: [] }],
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
  ["invalid_request", "tools[1].name", { tools: [look, look] }],
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
  ["invalid_request", "input[0].call_id", { input: [call(""), output("")] }],
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
  ["invalid_request", "input[0].call_id", { input: [call("a")] }],
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

test.each(refusals)("what is wrong is refused with %s at %s", (code, param, also) => {
  expect(refused(also).slice(0, 2)).toEqual([code, param]);
});

test("however many items are left out, each is looked at once", () => {
  const searched = Array.from({ length: 150_000 }, () => ({ type: "web_search_call" }));
  const from = performance.now();
  const { native, messages } = read({ input: [{ role: "user", content: "Hi" }, ...searched] });
  expect(performance.now() - from).toBeLessThan(1500);
  expect([messages.length, native?.body["input"]]).toEqual([1, [{ role: "user", content: "Hi" }]]);
});

test("a body that is no object is refused", () => {
  expect(() => parseResponseRequest([])).toThrow(Refusal);
});
