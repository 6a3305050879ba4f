// A call without arguments: clients parse them as JSON, so they are `{}` whenever the call was complete, in a stream
// as in a body (wire.md §2, §3.1). The text added by the gateway costs nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  block,
  candidate,
  chunk,
  ended,
  events,
  frames,
  question,
  type Script,
  type Scripted,
  started,
  startScripted,
} from "./scripted.ts";

let house: Scripted;
beforeAll(async () => {
  house = await startScripted();
});
afterAll(() => house.stop());

const tool = { type: "function", function: { name: "now", parameters: { type: "object" } } };
const call = (index: number, args?: string): object => ({
  index,
  id: `call_${index}`,
  type: "function",
  function: { name: "now", ...(args !== undefined && { arguments: args }) },
});
const usage = { choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 } };

/** Streams in which a tool is called without arguments. */
const SILENT: [string, string, Script][] = [
  ["openai", "an empty text", events(chunk({ tool_calls: [call(0, "")] }), chunk({}, "tool_calls"), usage)],
  ["openai", "nothing at all", events(chunk({ tool_calls: [call(0)] }), chunk({}, "stop"), usage)],
  [
    "openai",
    "beside one that has some",
    events(chunk({ tool_calls: [call(0, ""), call(1, '{"a":1}')] }), chunk({}, "tool_calls"), usage),
  ],
  [
    "claude",
    "an empty object",
    events(
      started(),
      ...block({ type: "tool_use", id: "t", name: "now", input: {} }),
      ...ended("tool_use", 9),
    ),
  ],
  ["gemini", "none", events(candidate([{ functionCall: { name: "now" } }], "STOP"))],
  [
    "bedrock",
    "no delta",
    frames(
      ["messageStart", { role: "assistant" }],
      ["contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t", name: "now" } } }],
      ["contentBlockStop", { contentBlockIndex: 0 }],
      ["messageStop", { stopReason: "tool_use" }],
    ),
  ],
];

type Chunk = {
  choices: { delta: { tool_calls?: { index: number; function: { arguments?: string } }[] } }[];
};
/** The final arguments of each call, by its index. */
function argumentsIn(text: string): string[] {
  const found: string[] = [];
  for (const [, data = ""] of text.matchAll(/^data: (\{.*)$/gm))
    for (const { delta } of (JSON.parse(data) as Chunk).choices)
      for (const { index, function: called } of delta.tool_calls ?? [])
        found[index] = (found[index] ?? "") + (called.arguments ?? "");
  return found;
}

test.each(SILENT)("chat completions, streamed: %s, %s", async (shape, _, script) => {
  house.says(script);
  const { text } = await house.post("/v1/chat/completions", question(shape, { tools: [tool] }));
  const told = argumentsIn(text);
  expect(told[0]).toBe("{}");
  for (const one of told) expect(JSON.parse(one)).toBeObject();
});

test.each(SILENT)("Responses, streamed: %s, %s", async (shape, _, script) => {
  house.says(script);
  const tools = [{ type: "function", name: "now", parameters: { type: "object" } }];
  const { text } = await house.post("/v1/responses", {
    model: shape,
    input: "What time is it?",
    stream: true,
    store: false,
    tools,
  });
  const said = [
    ...text.matchAll(/"type":"response.function_call_arguments.done".*?"arguments":"(.*?[^\\])"/g),
  ];
  expect(said[0]?.[1]).toBe("{}");
});

test.each(SILENT)("Messages, streamed: %s, %s", async (shape, _, script) => {
  house.says(script);
  const { text } = await house.post(
    "/v1/messages",
    question(shape, { tools: [{ name: "now", input_schema: { type: "object" } }] }),
  );
  const json = [...text.matchAll(/"index":0,"delta":\{"type":"input_json_delta","partial_json":"(.*?)"\}/g)];
  expect(JSON.parse(json.map(([, piece]) => piece).join("") || "{}")).toEqual({});
  expect(text).toContain('"stop_reason":"tool_use"');
});

test("each choice has its own", async () => {
  const both = [0, 1].map((choice) => chunk({ tool_calls: [call(0, "")] }, null, choice));
  house.says(events(...both, chunk({}, "tool_calls", 0), chunk({}, "tool_calls", 1), usage));
  const { text } = await house.post("/v1/chat/completions", question("openai", { n: 2, tools: [tool] }));
  const said = [
    ...text.matchAll(
      /"index":(\d),"delta":\{"tool_calls":\[\{"index":0,"function":\{"arguments":"\{\}"\}\}\]\}/g,
    ),
  ];
  expect(said.map(([, choice]) => choice)).toEqual(["0", "1"]);
});

test("a call that was cut after its name is not completed, streamed or not", async () => {
  house.says(events(chunk({ tool_calls: [call(0, "")] }), chunk({}, "length"), usage));
  const { text } = await house.post("/v1/chat/completions", question("openai", { tools: [tool] }));
  expect(argumentsIn(text)).toEqual([""]);
  const message = { role: "assistant", content: null, tool_calls: [call(0, '{"a":1}'), call(1, "")] };
  house.says(JSON.stringify({ ...usage, choices: [{ index: 0, message, finish_reason: "length" }] }));
  const whole = await house.post(
    "/v1/chat/completions",
    question("openai", { stream: false, tools: [tool] }),
  );
  const { choices } = JSON.parse(whole.text) as { choices: [{ message: { tool_calls: object[] } }] };
  expect(choices[0].message.tool_calls).toMatchObject([
    { function: { arguments: '{"a":1}' } },
    { function: { arguments: "" } },
  ]);
});

test("the text added by the gateway is not charged for, if no usage was reported", async () => {
  const tools = { tools: [tool] };
  const message = { content: "Hello", tool_calls: [call(0, "")] };
  const told: (number | undefined)[] = [];
  for (const [stream, script] of [
    [true, events(chunk({ content: "Hello" }), chunk({ tool_calls: [call(0)] }), chunk({}, "stop"))],
    [true, events(chunk({ content: "Hello" }), chunk({ tool_calls: [call(0, "")] }), chunk({}, "stop"))],
    [false, JSON.stringify({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] })],
  ] as const) {
    house.says(script);
    const { record } = await house.post("/v1/chat/completions", question("openai", { stream, ...tools }));
    told.push(record.usage?.completionTokens);
  }
  expect(told).toEqual([2, 2, 2]);
});

/** A provider of the Responses shape that sends `arguments: ""` itself. */
const item = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "now",
  status: "completed",
  arguments: "",
};
const response = (status: string, output: object[]): object => ({
  id: "resp_up",
  object: "response",
  status,
  output,
  usage: { input_tokens: 20, output_tokens: 9, total_tokens: 29 },
});
const created = { type: "response.created", response: response("in_progress", []) };
const added = {
  type: "response.output_item.added",
  output_index: 0,
  item: { ...item, status: "in_progress" },
};
const argued = {
  type: "response.function_call_arguments.done",
  output_index: 0,
  item_id: "fc_1",
  arguments: "",
};
const done = { type: "response.output_item.done", output_index: 0, item };
const asked = {
  model: "responses",
  input: "What time is it?",
  store: false,
  tools: [{ type: "function", name: "now", parameters: { type: "object" } }],
};

interface Told {
  type: string;
  delta?: string;
  arguments?: string;
  item?: { arguments?: string };
  response?: { output: { arguments?: string }[] };
}
const toldIn = (text: string): Told[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as Told);

test.each([
  ["told in full", [created, added, argued, done]],
  ["without the end of its arguments", [created, added, done]],
  ["without its end", [created, added]],
  ["whole at once", [created, done]],
  ["at the end alone", [created]],
])("Responses, as their upstream sends them: %s", async (_, list) => {
  house.says(events(...list, { type: "response.completed", response: response("completed", [item]) }));
  const { text, record } = await house.post("/v1/responses", { ...asked, stream: true });
  const told = toldIn(text);
  const of = (type: string): Told[] => told.filter((one) => one.type === `response.${type}`);
  const spoken = of("function_call_arguments.delta").map(({ delta }) => delta);
  expect(spoken.join("")).toBe("{}");
  expect(of("function_call_arguments.done").map((one) => one.arguments)).toEqual(["{}"]);
  expect(of("output_item.done").map((one) => one.item?.arguments)).toEqual(["{}"]);
  expect(of("completed")[0]?.response?.output.map((one) => one.arguments)).toEqual(["{}"]);
  expect(told.map(({ type }) => type).indexOf("response.function_call_arguments.done")).toBeLessThan(
    told.map(({ type }) => type).indexOf("response.output_item.done"),
  );
  expect(record.usage).toMatchObject({ promptTokens: 20, completionTokens: 9 });
});

test("and in a body; one that was cut stays as it came", async () => {
  const cut = { ...item, status: "incomplete" };
  for (const [told, expected] of [
    [item, "{}"],
    [cut, ""],
  ] as const) {
    const incomplete = told === cut;
    const body = {
      ...response(incomplete ? "incomplete" : "completed", [told]),
      ...(incomplete && { incomplete_details: { reason: "max_output_tokens" } }),
    };
    house.says(JSON.stringify(body));
    const { text } = await house.post("/v1/responses", asked);
    const { output } = JSON.parse(text) as { output: { arguments: string }[] };
    expect(output.map((one) => one.arguments)).toEqual([expected]);
  }
  house.says(
    events(
      created,
      added,
      { ...done, item: cut },
      {
        type: "response.incomplete",
        response: {
          ...response("incomplete", [cut]),
          incomplete_details: { reason: "max_output_tokens" },
        },
      },
    ),
  );
  const { text } = await house.post("/v1/responses", { ...asked, stream: true });
  expect(text).not.toContain('{}"');
});
