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
