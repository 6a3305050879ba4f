// A caller's own Messages body at each host of Claude: each gets only the names of `anthropic-beta` that it knows, and only settings
// that it would accept; the rest is left out and named (providers.md §1, §3; decision 49).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { anthropic } from "../../src/providers/anthropic/kind.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1 } from "../support/models.ts";

const PLACES: Record<string, { path: string; own: object; called: string }> = {
  direct: { path: "/v1", own: { api_key: "key" }, called: "/v1/messages" },
  foundry: { path: "/anthropic/v1", own: { api_key: "key" }, called: "/anthropic/v1/messages" },
  vertex: {
    path: "/v1",
    own: { project: "my-project" },
    called: "/v1/projects/my-project/locations/global/publishers/anthropic/models/claude-opus-4-8:rawPredict",
  },
  bedrock: {
    path: "/anthropic/v1",
    own: { region: "eu-west-1", api_key: "key" },
    called: "/anthropic/v1/messages",
  },
};
type Host = "direct" | "foundry" | "vertex" | "bedrock";
const HOSTS = Object.keys(PLACES) as Host[];

let gateway: TestGateway;
let customer: Customer;
let cloud: ReturnType<typeof Bun.serve>;
let asked: { path: string; headers: Headers; body: Record<string, unknown> } | null = null;
const ANSWER = `{"id":"msg_up","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":3}}`;

beforeAll(async () => {
  cloud = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as Record<string, unknown>;
      asked = { path: new URL(request.url).pathname, headers: request.headers, body };
      return new Response(ANSWER, { headers: { "content-type": "application/json" } });
    },
  });
  const on = (model: string, host: Host, upstream_model = "claude-opus-4-8") =>
    onProvider({ ...PREVIEW_V1, model, upstream_model, requires_paid: false }, host, {
      pricing: { ...PREVIEW_V1.pricing, cache_write_per_million: "2.5" },
    });
  gateway = await startGateway({
    models: [...HOSTS.map((host) => on(host, host)), on("older", "direct", "claude-sonnet-4-5")],
    configure: ({ providers }) => {
      const [usual] = providers;
      if (usual === undefined) throw new Error("nothing to add to");
      for (const host of HOSTS) {
        const { path, own } = PLACES[host] ?? { path: "", own: {} };
        providers.push({
          ...usual,
          name: host,
          kind: anthropic,
          baseUrl: `http://127.0.0.1:${cloud.port}${path}`,
          own: { envelope: host, models: {}, ...own } as never,
        });
      }
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await cloud.stop(true);
});

async function ask(model: string, body: object, betas: string) {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": customer.secret,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": betas,
    },
    body: JSON.stringify({ model, max_tokens: 4000, messages: [{ role: "user", content: "Hi" }], ...body }),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  if (asked === null) throw new Error("nobody was asked");
  return { ...asked, ignored: (response.headers.get("x-gw-ignored-parameters") ?? "").split(", ") };
}

/** What Claude Code sends. */
const AGENT = `claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,per-turn-control-2026-07-01,mid-conversation-tool-changes-2026-07-01,mid-conversation-system-clear-at-2026-08-21,effort-2025-11-24,thinking-binding-controls-2026-08-01,extended-cache-ttl-2025-04-11,advanced-tool-use-2025-11-20,thinking-display-updates-2026-08-18,context-1m-2025-08-07`;

/**
 * Names for which each cloud is known to answer 400: "Unexpected value(s) … for the `anthropic-beta` header", "invalid beta flag".
 */
const REFUSED: Record<Host, string[]> = {
  direct: [],
  foundry: ["thinking-token-count-2026-05-13", "thinking-binding-controls-2026-08-01"],
  vertex: [
    "effort-2025-11-24",
    "prompt-caching-scope-2026-01-05",
    "advanced-tool-use-2025-11-20",
    "thinking-token-count-2026-05-13",
  ],
  bedrock: [
    "prompt-caching-scope-2026-01-05",
    "advanced-tool-use-2025-11-20",
    "thinking-token-count-2026-05-13",
  ],
};

describe("the names that an agent sends", () => {
  test.each(HOSTS)("%s gets those that it knows, the others are named", async (host) => {
    const { path, headers, ignored, body } = await ask(host, {}, AGENT);
    expect(path).toBe(PLACES[host]?.called ?? "");
    const sent = (headers.get("anthropic-beta") ?? "").split(",");
    for (const name of REFUSED[host]) expect(sent).not.toContain(name);
    for (const name of [
      "claude-code-20250219",
      "context-management-2025-06-27",
      "interleaved-thinking-2025-05-14",
      "thinking-display-updates-2026-08-18",
    ])
      expect(sent).toContain(name);
    // They cost or route.
    for (const name of ["context-1m-2025-08-07", "per-turn-control-2026-07-01"]) {
      expect(sent).not.toContain(name);
      expect(ignored).toContain(`anthropic-beta:${name}`);
    }
    const searches = host === "vertex" || host === "bedrock";
    expect(sent.includes("tool-search-tool-2025-10-19")).toBe(searches);
    expect(sent.includes("advanced-tool-use-2025-11-20")).toBe(!searches);
    const told = new Set([...sent, ...ignored.map((name) => name.replace("anthropic-beta:", ""))]);
    for (const name of AGENT.split(","))
      expect([name, told.has(name)]).toEqual([name, !(searches && name === "advanced-tool-use-2025-11-20")]);
    expect(body).not.toHaveProperty("anthropic_beta");
  });

  test.each(HOSTS)("%s never gets a name that nobody knows", async (host) => {
    const { headers, ignored } = await ask(host, {}, "made-up-2026-11-11,fast-mode-2026-02-01");
    expect(headers.get("anthropic-beta")).toBeNull();
    expect(ignored).toEqual(["anthropic-beta:fast-mode-2026-02-01", "anthropic-beta:made-up-2026-11-11"]);
  });
});

const schema = { type: "object", properties: {} };
const change = (type: string, tool_name: string) => ({ type, tool: { type: "tool_reference", tool_name } });
const SETTINGS = {
  tools: [
    { name: "look", input_schema: schema },
    { name: "later", input_schema: schema, defer_loading: true },
  ],
  thinking: {
    type: "adaptive",
    display: "updates",
    block_binding: { prefix_mismatch_behavior: "drop_block" },
  },
  output_config: { effort: "low", task_budget: { type: "tokens", total: 9000 } },
  context_management: { edits: [] },
  messages: [
    {
      role: "user",
      content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", scope: "global" } }],
    },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Go on" },
    {
      role: "system",
      content: [{ type: "text", text: "Be brief" }, change("tool_removal", "look")],
      clear_at: "next_user_message",
    },
    { role: "system", content: [change("tool_addition", "later")] },
  ],
};
const ALL = `${AGENT},task-budgets-2026-03-13`;
const LEFT_OUT = [
  "output_config.task_budget",
  "messages.clear_at",
  "messages.tool_removal",
  "messages.tool_addition",
];

describe("settings that need such a name", () => {
  test("reach the vendor as they were written", async () => {
    const { body, ignored } = await ask("direct", SETTINGS, ALL);
    expect(body).toMatchObject(SETTINGS);
    for (const name of [...LEFT_OUT, "thinking.block_binding"]) expect(ignored).not.toContain(name);
  });

  test.each(["foundry", "vertex", "bedrock"] as const)(
    "%s gets those that it knows; the others are left out and named, and a tool that waited is offered",
    async (host) => {
      const { body, ignored } = await ask(host, SETTINGS, ALL);
      for (const name of LEFT_OUT) expect(ignored).toContain(name);
      const { block_binding: binding, ...thinking } = SETTINGS.thinking;
      const knows = host !== "foundry";
      expect(body["thinking"]).toEqual(knows ? { ...thinking, block_binding: binding } : thinking);
      expect(ignored.includes("thinking.block_binding")).toBe(!knows);
      expect(body["output_config"]).toEqual({ effort: "low" });
      expect(body["context_management"]).toEqual({ edits: [] });
      expect(body["tools"]).toEqual(SETTINGS.tools.map(({ name }) => ({ name, input_schema: schema })));
      const [first, second, third, last, ...rest] = body["messages"] as { role: string; content: object[] }[];
      const scope = host === "foundry" ? { scope: "global" } : {};
      expect(first?.content).toEqual([
        { type: "text", text: "Hi", cache_control: { type: "ephemeral", ...scope } },
      ]);
      expect([second, third]).toEqual(SETTINGS.messages.slice(1, 3) as never);
      // Foundry has no system messages within a conversation.
      expect(last as object).toEqual(
        host === "foundry"
          ? { role: "user", content: [{ type: "text", text: "<system>\nBe brief\n</system>" }] }
          : { role: "system", content: [{ type: "text", text: "Be brief" }] },
      );
      expect(rest).toEqual([]);
    },
  );

  test.each(HOSTS)(
    "%s gets no checks of the vendor's own, which agents ask for in their auto mode",
    async (host) => {
      const safeguards = [{ type: "dangerous_tool_use", classifier_context: { v: 1, cwd: "/home/me" } }];
      const { body, ignored } = await ask(host, { safeguards }, "dangerous-tool-use-2026-09-03");
      expect(body).not.toHaveProperty("safeguards");
      expect(ignored).toEqual(["safeguards", "anthropic-beta:dangerous-tool-use-2026-09-03"]);
    },
  );

  test("a model without system turns is told none of it either, and its caller is told so", async () => {
    const { thinking: _thinking, output_config: _output, ...settings } = SETTINGS;
    const { body, ignored } = await ask("older", settings, ALL);
    for (const name of LEFT_OUT.slice(1)) expect(ignored).toContain(name);
    expect(body["tools"]).toEqual(SETTINGS.tools.map(({ name }) => ({ name, input_schema: schema })));
    expect(JSON.stringify(body["messages"])).not.toMatch(/clear_at|tool_(addition|removal)/);
  });
});
