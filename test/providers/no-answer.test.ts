// A model that ends without an answer, or a provider that gives fewer choices than requested: the request itself may
// be the reason, so no route closes because of it, neither for its organization nor for others.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  candidate,
  chunk,
  events,
  frames,
  question,
  type Script,
  type Scripted,
  startScripted,
} from "./scripted.ts";

const OPEN_AFTER = 3;
let house: Scripted;
beforeAll(async () => {
  house = await startScripted({ openAfter: OPEN_AFTER });
});
afterAll(() => house.stop());

const json = (body: object): string => JSON.stringify(body);
const half = { choices: [{ index: 0, message: { content: "one" }, finish_reason: "stop" }] };
const ROWS: [string, string, object, Script][] = [
  ["a call that the model could not write", "gemini", {}, events(candidate([], "MALFORMED_FUNCTION_CALL"))],
  ["the same, whole", "gemini", { stream: false }, json(candidate([], "MALFORMED_FUNCTION_CALL"))],
  [
    "the same behind words",
    "gemini",
    {},
    events(candidate([{ text: "I will " }]), candidate([], "UNEXPECTED_TOOL_CALL")),
  ],
  [
    "the same at Bedrock",
    "bedrock",
    {},
    frames(["messageStart", { role: "assistant" }], ["messageStop", { stopReason: "malformed_tool_use" }]),
  ],
  ["one choice of two", "openai", { n: 2 }, events(chunk({ content: "one" }), chunk({}, "stop"), "[DONE]")],
  ["one choice of two, without a terminator", "gemini", { n: 2 }, events(candidate([{ text: "a" }], "STOP"))],
  ["one choice of two, whole", "openai", { n: 2, stream: false }, json(half)],
  [
    "one choice of two, whole, at Gemini",
    "gemini",
    { n: 2, stream: false },
    json(candidate([{ text: "a" }])),
  ],
];

test.each(ROWS)("%s closes no route, however often it comes: %s", async (_, model, also, script) => {
  house.says(script);
  for (let n = 0; n < OPEN_AFTER; n += 1) {
    const { record } = await house.post("/v1/chat/completions", question(model, also));
    expect(record.attempts).toMatchObject([{ outcome: "unknown", errorClass: "no_answer" }]);
  }
  const before = house.calls;
  await house.post("/v1/chat/completions", question(model, also));
  expect(house.calls).toBe(before + 1);
});

test("a stream that breaks off before any finish is the route's failure, as before", async () => {
  house.says(events(chunk({ content: "a" })));
  for (let n = 0; n < OPEN_AFTER; n += 1) {
    const { record } = await house.post("/v1/chat/completions", question("openai", { n: 2 }));
    expect(record.attempts).toMatchObject([{ errorClass: "broken" }]);
  }
  const before = house.calls;
  const { status } = await house.gateway.chat(house.one, question("openai", { n: 2 }));
  expect([status, house.calls]).toEqual([503, before]);
});
