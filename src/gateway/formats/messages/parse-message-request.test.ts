import { expect, test } from "bun:test";
import { sealedState, UNSIGNED } from "../../../domain/carried-state.ts";
import type { ChatRequest } from "../../../domain/chat-request.ts";
import { refusalOf } from "../chat-completions/chat-request.fixtures.ts";
import { parseMessageRequest } from "./parse-message-request.ts";

const BASE = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
const parsed = (more: object = {}, headers: Record<string, string> = {}): ChatRequest =>
  parseMessageRequest({ ...BASE, ...more }, (name) => headers[name] ?? null);
const turns = (...messages: object[]) => parsed({ messages }).messages;
const user = (...content: object[]) => ({ role: "user", content });
const model = (...content: object[]) => ({ role: "assistant", content });
const text = (words: string) => ({ type: "text" as const, text: words });
const call = (id: string, more: object = {}) => ({ type: "tool_use", id, name: "find", input: {}, ...more });
const result = (id: string, content: unknown) => ({ type: "tool_result", tool_use_id: id, content });

test("words, results and what a tool showed stand in the order in which they can be told", () => {
  const url = "https://example.com/a.png";
  const image = { type: "image", source: { type: "url", url } };
  expect(
    turns(
      model(text("I look. "), call("a"), text("And there."), call("b")),
      user(text("before"), result("b", [text("two"), image]), text("after"), result("a", "one")),
    ),
  ).toEqual([
    {
      role: "assistant",
      content: "I look. And there.",
      tool_calls: ["a", "b"].map((id) => ({
        id,
        type: "function",
        function: { name: "find", arguments: "{}" },
      })),
    },
    { role: "tool", tool_call_id: "b", content: "two" },
    { role: "tool", tool_call_id: "a", content: "one" },
    {
      role: "user",
      content: [text("before"), { type: "image_url", image_url: { url } }, text("after")],
    },
  ]);
});

test("a result that says what went wrong is told as such", () => {
  const results = [
    { ...result("a", "one"), is_error: true },
    { ...result("b", "two"), is_error: false },
  ];
  expect(turns(model(call("a"), call("b")), user(...results)).slice(1)).toEqual([
    { role: "tool", tool_call_id: "a", content: "one", failed: true },
    { role: "tool", tool_call_id: "b", content: "two" },
  ]);
});

test("thoughts come back where they left unsigned; the vendor's, forged ones and those of nobody stay behind", () => {
  const thought = (thinking: string, signature: string) => ({ type: "thinking", thinking, signature });
  const [said] = turns(
    model(thought("Mine. ", UNSIGNED), thought("Theirs.", "c2lnbmVk"), thought("Nobody's.", ""), text("So.")),
    user(text("And?")),
  );
  expect(said).toEqual({ role: "assistant", content: "So.", reasoning_content: "Mine. " });
  expect(turns(model(thought("Theirs.", "c2lnbmVk")), user(text("And?")))).toEqual([
    { role: "user", content: "And?" },
  ]);
});

test("state goes back with the call behind it, and with no other", () => {
  const state = { google: { thought_signature: "abc" } };
  const sealed = { type: "redacted_thinking", data: sealedState(state) };
  const [said] = turns(
    model({ type: "redacted_thinking", data: "c2VhbGVk" }, sealed, call("a"), call("b")),
    user(result("a", "1"), result("b", "2")),
  );
  expect(said?.tool_calls?.map(({ extra_content: extra }) => extra)).toEqual([state, undefined]);
  for (const forged of [
    `${sealedState({})}AA`,
    `tollgate:state:${Buffer.from("[1]").toString("base64url")}`,
    `tollgate:state:${Buffer.from("[".repeat(9999)).toString("base64url")}`,
    "tollgate:state:",
    7,
  ]) {
    const [made] = turns(
      model({ type: "redacted_thinking", data: forged }, call("a")),
      user(result("a", "1")),
    );
    expect(made?.tool_calls?.[0]).not.toHaveProperty("extra_content");
  }
});

test("a document is its title, its context and its text; a mark of the whole stands behind its last part", () => {
  const cache_control = { type: "ephemeral" as const };
  const source = { type: "content", content: [text("one"), text("two")] };
  const found = { type: "search_result", title: "T", source: "S", content: [text("hit")] };
  const [said] = turns(
    user({ type: "document", source, title: "Title", context: "Context", cache_control }, found),
  );
  expect(said?.content).toEqual([
    text("Title"),
    text("Context"),
    text("one"),
    { ...text("two"), cache_control },
    text("T\nS"),
    text("hit"),
  ]);
});

test("a tier of service that costs nothing more is taken and told to nobody; another is refused", () => {
  const auto = parsed({ service_tier: "auto" });
  expect([auto.ignored, auto.native?.dropped, auto.native?.body]).toEqual([[], [], BASE]);
  const plain = parsed({ service_tier: "standard_only" });
  expect([plain.ignored, plain.native?.body]).toEqual([["service_tier"], BASE]);
  for (const [service_tier, code] of [
    ["priority", "unsupported_value"],
    [1, "invalid_request"],
  ] as const)
    expect(refusalOf(() => parsed({ service_tier }))).toMatchObject({ code, param: "service_tier" });
});

test("a default spelled out is accepted like its absence, and told to nobody", () => {
  for (const said of [
    { speed: "standard" },
    { mcp_servers: [] },
    { fallbacks: [] },
    { billing_policy: { type: "billing_policy", bill_to: "self" } },
    { response_format: { type: "text" }, n: 1, stop: [], logit_bias: {} },
    { container: null, thread: null, compaction: null, diagnostics: null },
  ]) {
    const { ignored, native } = parsed(said);
    expect([ignored, native?.dropped]).toEqual([[], []]);
    for (const [name, value] of Object.entries(said))
      if (value !== null) expect(Object.keys(native?.body ?? {})).not.toContain(name);
  }
});

test("a comparison with an answer that the vendor knows by another id changes no answer, and is named", () => {
  const { ignored, native } = parsed({ diagnostics: { previous_message_id: "msg_1" } });
  expect([ignored, native?.body]).toEqual([["diagnostics"], BASE]);
});

test("a call that only fills the vendor's cache is refused as what it is, and not told to leave out what it must send", () => {
  const { message } = refusalOf(() => parsed({ max_tokens: 0 }));
  expect(message).toBe("`max_tokens` must be at least 1: a call that only fills a cache is not supported.");
});

const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: "object" }, ...more });
const tools = (count: number) => Array.from({ length: count }, (_, at) => tool(`t${at}`));
const stops = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`);

test.each<[code: string, param: string, more: object]>([
  ["array_above_max_length", "tools", { tools: tools(1025) }],
  ["unsupported_parameter", "speed", { speed: "fast" }],
  ["unsupported_parameter", "mcp_servers", { mcp_servers: [{ type: "url", url: "https://x.example" }] }],
  ["unsupported_parameter", "compaction", { compaction: { type: "summarize" } }],
  ["unsupported_parameter", "fallback_credit_token", { fallback_credit_token: "t" }],
  [
    "unsupported_parameter",
    "billing_policy",
    { billing_policy: { type: "billing_policy", bill_to: "user_profile" } },
  ],
  ["invalid_request", "tools[1].name", { tools: [tool("a"), tool("a")] }],
  ["invalid_request", "tools[0].name", { tools: [tool("a b")] }],
  ["string_above_max_length", "tools[0].name", { tools: [tool("a".repeat(129))] }],
  ["unsupported_value", "tools[0].type", { tools: [{ type: "code_execution_20250825", name: "code" }] }],
  // Nothing is left to search with: an answer would pass for what a search found.
  ["unsupported_value", "tools[0].type", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  ["invalid_request", "tool_choice.name", { tools: tools(1), tool_choice: { type: "tool", name: "t1" } }],
  ["invalid_request", "tool_choice", { tool_choice: { type: "any" } }],
  ["array_above_max_length", "stop_sequences", { stop_sequences: stops(1025) }],
  ["invalid_request", "stop_sequences[1]", { stop_sequences: ["a", ""] }],
  ["string_above_max_length", "stop_sequences[0]", { stop_sequences: ["a".repeat(1025)] }],
  ["decimal_above_max_value", "temperature", { temperature: 1.1 }],
  ["decimal_above_max_value", "top_p", { top_p: 1.1 }],
  ["integer_below_min_value", "top_k", { top_k: -1 }],
  ["integer_below_min_value", "max_tokens", { max_tokens: 0 }],
  ["string_above_max_length", "metadata.user_id", { metadata: { user_id: "a".repeat(513) } }],
  [
    "integer_below_min_value",
    "thinking.budget_tokens",
    { thinking: { type: "enabled", budget_tokens: 1023 } },
  ],
  [
    "contradictory_thinking",
    "output_config.effort",
    { thinking: { type: "adaptive" }, output_config: { effort: "none" } },
  ],
  ["invalid_request", "messages", { messages: [] }],
  ["invalid_request", "messages[0].content[0].id", { messages: [model(call(""))] }],
  ["string_above_max_length", "messages[0].content[0].id", { messages: [model(call("a".repeat(513)))] }],
  [
    "unsupported_value",
    "messages[0].content[0].type",
    { messages: [user({ type: "container_upload", file_id: "f" })] },
  ],
  [
    "invalid_request",
    "messages[0].content[0].source.url",
    { messages: [user({ type: "image", source: { type: "url", url: "data:image/png;base64,aaaa" } })] },
  ],
])("%s at %s", (code, param, more) => {
  expect(refusalOf(() => parsed(more))).toMatchObject({ code, param });
});

test("what the vendor takes and other shapes do not is a refusal for those alone", () => {
  for (const [more, code, param] of [
    [{ tools: tools(129) }, "array_above_max_length", "tools"],
    [{ tools: [tool("a".repeat(65))] }, "string_above_max_length", "tools[0].name"],
    [{ stop_sequences: stops(5) }, "array_above_max_length", "stop_sequences"],
  ] as const)
    expect(parsed(more).native?.only).toMatchObject({ code, param });
  const most = { tools: [...tools(127), tool("a".repeat(64))], stop_sequences: stops(4) };
  expect(parsed(most).native?.only).toBeNull();
});

test("a search of the vendor's beside other tools is left out and named; the choice among what is left stands", () => {
  const search = { type: "web_search_20250305", name: "web_search" };
  const tool_choice = { type: "auto", disable_parallel_tool_use: true };
  const some = parsed({ tools: [search, tool("a")], tool_choice });
  expect([some.ignored, some.toolChoice, some.forwarded]).toEqual([
    ["web_search_20250305"],
    "auto",
    { parallel_tool_calls: false },
  ]);
  expect(some.native?.body).toEqual({ ...BASE, tools: [tool("a")], tool_choice });
});

test("how thoughts of another conversation are taken says nothing about thinking", () => {
  const binding = { prefix_mismatch_behavior: "drop_block" };
  const { reasoning, native } = parsed({ thinking: { block_binding: binding } });
  expect([reasoning, native?.dropped]).toEqual([null, ["thinking.block_binding"]]);
  expect(refusalOf(() => parsed({ thinking: {} }))).toMatchObject({ param: "thinking.type" });
});

test("the identifier of a user is one, and goes no other way", () => {
  const request = parsed({ metadata: { user_id: "u", more: 1 } });
  expect([request.identifiers, request.ignored, request.forwarded]).toEqual([{ user: "u" }, [], {}]);
});

test("names in the header of betas are plain, each once and sorted, and so many; a version is a date", () => {
  const betas = (names: string) => parsed({}, { "anthropic-beta": names }).native?.headers["anthropic-beta"];
  expect(betas(" b-2, A-1,,b-2 ")).toBe("a-1,b-2");
  const many = (count: number) => stops(count).join(",");
  expect(betas(many(64))?.split(",")).toHaveLength(64);
  for (const wrong of [many(65), "a b", "a\r\nx: y", "a".repeat(101), "-a"])
    expect(refusalOf(() => betas(wrong))).toMatchObject({ code: "invalid_request", param: "anthropic-beta" });
  for (const version of ["2023-06-01", "2026-01-01"])
    expect(parsed({}, { "anthropic-version": version }).native?.headers).toEqual({});
  expect(refusalOf(() => parsed({}, { "anthropic-version": "2023-6-1" })).param).toBe("anthropic-version");
});

test("what clients tell their vendor in front of a prompt is told to no other model", () => {
  const told = text("x-anthropic-billing-header: cc_version=2");
  expect(parsed({ system: [told, text("Be brief.")] }).messages[0]).toEqual({
    role: "system",
    content: "Be brief.",
  });
  expect(parsed({ system: [told] }).messages).toEqual([{ role: "user", content: "Hi" }]);
});
