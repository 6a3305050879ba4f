// What a conversation in items says to any provider: turns, calls, tool results, and reasoning.
import { expect, test } from "bun:test";
import { cpuMs } from "../../../../test/support/cpu.ts";
import { parseResponseRequest } from "./parse-response-request.ts";
import { BASE, callItem, output, read, toolCallOf } from "./response-request.fixtures.ts";
import { sealState } from "./sealed-state.ts";

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
      callItem("a"),
      callItem("b"),
      { role: "user", content: "Hurry" },
      output("b", "two"),
      output("a", [{ type: "input_text", text: "one" }]),
      callItem("c"),
      output("c"),
    ],
  });
  expect(request.messages).toEqual([
    { role: "user", content: "Go" },
    { role: "assistant", content: "I look", tool_calls: [toolCallOf("a"), toolCallOf("b")] },
    { role: "tool", tool_call_id: "b", content: "two" },
    { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "one" }] },
    { role: "user", content: "Hurry" },
    { role: "assistant", content: null, tool_calls: [toolCallOf("c")] },
    { role: "tool", tool_call_id: "c", content: "seen" },
  ]);
});

test("a thought that is only named, as the AI SDK does where it has no seal of it, goes nowhere; the conversation goes on", () => {
  const input = [
    { role: "user", content: "Go" },
    { type: "item_reference", id: "rs_1" },
    callItem("a"),
    output("a"),
  ];
  const { request } = parseResponseRequest({ ...BASE, input });
  expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(request.ignored).toEqual(["item_reference"]);
  expect(request.native?.body["input"]).toEqual([input[0], input[2], input[3]]);
});

test("a thought that nobody sealed goes to no upstream: nothing is stored that it could be found by", () => {
  const thought = { id: "rs_1", type: "reasoning", summary: [] };
  const input = [{ role: "user", content: "Go" }, thought, callItem("a"), output("a")];
  const { request } = parseResponseRequest({ ...BASE, input });
  expect(request.native?.body["input"]).toEqual([input[0], input[2], input[3]]);
  expect(request.ignored).toEqual([]);
});

test("an image that a tool shows stands behind all that the tools of its turn said", () => {
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
  const { messages, images } = read({
    input: [{ role: "user", content: "Go" }, callItem("a"), callItem("b"), output("a", [image]), output("b")],
  });
  expect(images).toBe(1);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
  expect(messages.at(-1)?.content).toEqual([{ type: "image_url", image_url: { url: image.image_url } }]);
});

test("only what was sealed here comes back as reasoning, with the call that it belongs to", () => {
  const extra = { google: { thought_signature: "c2ln" } };
  const thought = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] };
  const asked = (sealed: string | null) =>
    read({
      input: [
        { role: "user", content: "Go" },
        { ...thought, encrypted_content: sealed },
        callItem("a"),
        output("a"),
      ],
    }).messages[1];
  const back = { role: "assistant", content: null } as const;
  expect(asked(sealState({ call: "a", extra }))).toEqual({
    ...back,
    tool_calls: [{ ...toolCallOf("a"), extra_content: extra }],
    reasoning_content: "Hm.",
  });
  expect(asked(sealState({ call: "b", extra }))).toEqual({
    ...back,
    tool_calls: [toolCallOf("a")],
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
    expect(asked(foreign)).toEqual({ ...back, tool_calls: [toolCallOf("a")] });
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

test("however many items are left out, each is looked at once", () => {
  const searched = Array.from({ length: 150_000 }, () => ({ type: "web_search_call" }));
  const from = cpuMs();
  const { native, messages } = read({ input: [{ role: "user", content: "Hi" }, ...searched] });
  expect(cpuMs() - from).toBeLessThan(3000);
  expect([messages.length, native?.body["input"]]).toEqual([1, [{ role: "user", content: "Hi" }]]);
});
