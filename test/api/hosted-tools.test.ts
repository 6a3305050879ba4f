// Tools that a provider runs, or has defined itself, on every surface and in front of every shape: refused by name before anything
// is held, and no provider hears of them; a web search beside other tools is left out and named (decision 95).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ configure: addFaces, models: ON_EVERY_SHAPE });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const MODELS = ON_EVERY_SHAPE.map(({ model }) => model);
const SAID = [{ role: "user", content: "Say hello" }];
const schema = { type: "object", properties: {} };
type Path = "/v1/chat/completions" | "/v1/messages" | "/v1/responses";
const BODIES: Record<Path, object> = {
  "/v1/chat/completions": { max_tokens: 60, messages: SAID },
  "/v1/messages": { max_tokens: 60, messages: SAID },
  "/v1/responses": { max_output_tokens: 60, input: "Say hello" },
};
const OWN: Record<Path, object> = {
  "/v1/chat/completions": { type: "function", function: { name: "look", parameters: schema } },
  "/v1/messages": { name: "look", input_schema: schema },
  "/v1/responses": { type: "function", name: "look", parameters: schema },
};

async function ask(path: Path, model: string, body: object) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, ...BODIES[path], ...body }),
  });
  const text = await response.text();
  const { error } = JSON.parse(text) as { error?: { code: string; param: string; message: string } | null };
  const ignored = response.headers.get("x-gw-ignored-parameters");
  return { status: response.status, error, ignored };
}

async function requireRefused(path: Path, body: object, code: string, param: string): Promise<void> {
  const calls = gateway.simulator.bill().length;
  for (const model of MODELS) {
    const { status, error } = await ask(path, model, body);
    expect([model, status, error?.code, error?.param]).toEqual([model, 400, code, param]);
  }
  expect(gateway.simulator.bill()).toHaveLength(calls);
}

const typed = (path: Path, types: string): [Path, object][] =>
  types.split(/\s+/).map((type) => [path, { type, name: type.replace(/_\d+$/, "") }]);

test.each([
  ...typed(
    "/v1/responses",
    `file_search code_interpreter computer_use_preview computer image_generation mcp local_shell shell apply_patch
    web_search_all web_fetch x_search collections_search openrouter:web_search`,
  ),
  ...typed(
    "/v1/messages",
    `web_fetch_20250910 code_execution_20250825 computer_20251124 bash_20250124 text_editor_20250728 memory_20250818
    tool_search_tool_regex_20251119 mcp_toolset advisor_20260301`,
  ),
  ...typed(
    "/v1/chat/completions",
    "web_search web_search_preview mcp custom code_interpreter openrouter:web_search",
  ),
])("%s refuses %p beside a tool of the caller's", async (path, tool) => {
  await requireRefused(path, { tools: [OWN[path], tool] }, "unsupported_value", "tools[1].type");
});

test.each<[Path, object, string, string]>([
  // Gemini's way of naming them.
  ["/v1/chat/completions", { tools: [{ google_search: {} }] }, "invalid_request", "tools[0].type"],
  ["/v1/chat/completions", { tools: [{ code_execution: {} }] }, "invalid_request", "tools[0].type"],
  ["/v1/responses", { tools: [{ google_search: {} }] }, "invalid_request", "tools[0].type"],
  ["/v1/messages", { tools: [{ google_search: {} }] }, "invalid_request", "tools[0].name"],
  ["/v1/chat/completions", { web_search_options: {} }, "unsupported_parameter", "web_search_options"],
  ["/v1/chat/completions", { plugins: [{ id: "web" }] }, "unknown_parameter", "plugins"],
  ["/v1/chat/completions", { search_parameters: { mode: "on" } }, "unknown_parameter", "search_parameters"],
  ["/v1/responses", { search_parameters: { mode: "on" } }, "unsupported_parameter", "search_parameters"],
  ["/v1/responses", { web_search_options: {} }, "unsupported_parameter", "web_search_options"],
  ["/v1/responses", { plugins: [{ id: "web" }] }, "unknown_parameter", "plugins"],
  ["/v1/messages", { web_search_options: {} }, "unsupported_parameter", "web_search_options"],
  [
    "/v1/messages",
    { mcp_servers: [{ type: "url", url: "https://a.example" }] },
    "unsupported_parameter",
    "mcp_servers",
  ],
])("%s refuses %p", async (path, body, code, param) => {
  await requireRefused(path, body, code, param);
});

const SEARCHES: [Path, object, string][] = [
  ["/v1/responses", { type: "web_search" }, "tools.web_search"],
  ["/v1/responses", { type: "web_search_preview" }, "tools.web_search"],
  ["/v1/messages", { type: "web_search_20250305", name: "web_search" }, "web_search_20250305"],
];

test.each(SEARCHES)("%s leaves %p out beside other tools and names it", async (path, search, name) => {
  for (const model of MODELS) {
    const { status, ignored } = await ask(path, model, { tools: [search, OWN[path]] });
    expect([model, status, ignored?.split(", ").includes(name)]).toEqual([model, 200, true]);
  }
});

test.each(SEARCHES)("%s refuses %p if it is the only tool", async (path, search) => {
  await requireRefused(path, { tools: [search] }, "unsupported_value", "tools[0].type");
  const { error } = await ask(path, MODELS[0] ?? "", { tools: [search] });
  expect(error?.message).toContain("is the only tool");
});

test("a search counts as the only tool wherever it stands in a conversation, unless others are offered elsewhere", async () => {
  const search = { type: "web_search" };
  const added = (tools: object[]): object[] => [
    { type: "additional_tools", role: "developer", tools },
    { type: "message", role: "user", content: "Say hello" },
  ];
  const lone = { input: added([search]) };
  await requireRefused("/v1/responses", lone, "unsupported_value", "input[0].tools[0].type");
  for (const model of MODELS)
    for (const body of [
      { tools: [search], input: added([OWN["/v1/responses"]]) },
      { tools: [OWN["/v1/responses"]], input: added([search]) },
      { tools: [search, { type: "tool_search", execution: "client", parameters: schema }] },
      { tools: [] },
    ]) {
      const { status, error } = await ask("/v1/responses", model, body);
      expect([model, status, error?.code ?? null]).toEqual([model, 200, null]);
    }
});
