import { expect, test } from "bun:test";
import { bodyWith, tool, parsed, verdict } from "./chat-request.fixtures.ts";

const many = (count: number): unknown[] => Array.from({ length: count }, (_, index) => tool(`t${index}`));
const withFunction = (fields: Record<string, unknown>): unknown => ({
  type: "function",
  function: { name: "f", ...fields },
});
const allowed = (...names: string[]): unknown => ({
  type: "allowed_tools",
  allowed_tools: {
    mode: "auto",
    tools: names.map((name) => ({ type: "function", function: { name } })),
  },
});

const REFUSED: [tools: unknown, verdict: string][] = [
  [{}, "invalid_request tools"],
  [many(129), "array_above_max_length tools"],
  [[7], "invalid_request tools[0]"],
  [[{ function: { name: "f" } }], "invalid_request tools[0].type"],
  [[{ type: "custom", custom: { name: "f" } }], "unsupported_value tools[0].type"],
  [[{ type: "web_search" }], "unsupported_value tools[0].type"],
  [[{ type: "function" }], "invalid_request tools[0].function"],
  [[tool(), withFunction({ name: undefined })], "invalid_request tools[1].function.name"],
  [[withFunction({ name: "" })], "invalid_request tools[0].function.name"],
  [[withFunction({ name: "get weather" })], "invalid_request tools[0].function.name"],
  [[withFunction({ name: "météo" })], "invalid_request tools[0].function.name"],
  [[withFunction({ name: "x".repeat(65) })], "string_above_max_length tools[0].function.name"],
  [[tool("twice"), tool("once"), tool("twice")], "invalid_request tools[2].function.name"],
  [[withFunction({ description: 7 })], "invalid_request tools[0].function.description"],
  [[withFunction({ parameters: "{}" })], "invalid_request tools[0].function.parameters"],
  [[withFunction({ parameters: [] })], "invalid_request tools[0].function.parameters"],
  [[withFunction({ strict: 1 })], "invalid_request tools[0].function.strict"],
];

for (const [tools, expected] of REFUSED) {
  test(`tools ${JSON.stringify(tools).slice(0, 90)} are refused: ${expected}`, () => {
    expect(verdict(bodyWith({ tools }))).toBe(expected);
  });
}

test("128 tools pass, schemas as sent; unknown keys and nulls are dropped", () => {
  expect(parsed(bodyWith({ tools: many(128) })).tools).toHaveLength(128);
  const parameters = { type: "object", properties: { constructor: { type: "string" } }, "x-y": [1, null] };
  const given = {
    type: "function",
    cache_control: {},
    function: { name: "A_b-1", description: null, strict: null, parameters, x: 1 },
  };
  expect(parsed(bodyWith({ tools: [given] })).tools).toEqual([
    { type: "function", function: { name: "A_b-1", parameters } },
  ]);
});

const CHOICES: [choice: unknown, tools: unknown[], verdict: string][] = [
  ["none", [], "accepted"],
  ["auto", [], "accepted"],
  ["required", [], "invalid_request tool_choice"],
  [{ type: "function", function: { name: "weather" } }, [], "invalid_request tool_choice.function.name"],
  ["required", [tool()], "accepted"],
  ["any", [tool()], "unsupported_value tool_choice"],
  [7, [tool()], "invalid_request tool_choice"],
  [{}, [tool()], "invalid_request tool_choice.type"],
  [{ type: "custom", custom: { name: "weather" } }, [tool()], "unsupported_value tool_choice.type"],
  [{ type: "function" }, [tool()], "invalid_request tool_choice.function"],
  [{ type: "function", function: { name: "weather" } }, [tool()], "accepted"],
  [{ type: "function", function: { name: "wether" } }, [tool()], "invalid_request tool_choice.function.name"],
  [allowed("weather"), [tool()], "accepted"],
  [allowed(), [tool()], "invalid_request tool_choice.allowed_tools.tools"],
  [allowed("weather", "x"), [tool()], "invalid_request tool_choice.allowed_tools.tools[1].function.name"],
  [
    { type: "allowed_tools", allowed_tools: { mode: "none", tools: [] } },
    [tool()],
    "unsupported_value tool_choice.allowed_tools.mode",
  ],
  [
    allowed(...Array.from({ length: 129 }, () => "weather")),
    [tool()],
    "array_above_max_length tool_choice.allowed_tools.tools",
  ],
  [{ type: "allowed_tools" }, [tool()], "invalid_request tool_choice.allowed_tools"],
];

for (const [choice, tools, expected] of CHOICES) {
  test(`tool_choice ${JSON.stringify(choice).slice(0, 90)} with ${tools.length} tools: ${expected}`, () => {
    expect(verdict(bodyWith({ tool_choice: choice, tools }))).toBe(expected);
  });
}

test("a choice arrives as sent, and there is none without tools", () => {
  for (const choice of ["auto", { type: "function", function: { name: "weather" } }, allowed("weather")])
    expect(parsed(bodyWith({ tools: [tool()], tool_choice: choice })).toolChoice).toEqual(choice as never);
  expect(parsed(bodyWith({ tool_choice: "none" })).toolChoice).toBeNull();
});
