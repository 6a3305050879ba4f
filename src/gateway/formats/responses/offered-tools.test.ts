// Which tools, and which choice among them, are offered to any provider, and under which names their calls come back.
import { expect, test } from "bun:test";
import { parseResponseRequest } from "./parse-response-request.ts";
import { BASE, callItem, look, output, read, refused, toolCallOf } from "./response-request.fixtures.ts";

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
    callItem("a", { namespace: "mcp__files" }),
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
  expect(request.messages[1]?.tool_calls).toEqual([toolCallOf("a", "mcp__files__look")]);
  expect(request.messages[3]?.tool_calls).toEqual([
    toolCallOf("p", "apply_patch", JSON.stringify({ input: '*** "quoted"' })),
  ]);
  expect(request.ignored).toEqual(["tools.web_search"]);
  expect(request.native?.body["tools"]).toEqual([tools[0], tools[2], tools[3]]);
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
