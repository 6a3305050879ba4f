// What the newest clients can ask for that would make a provider charge more than the hold covers, or charge for what nobody
// asked for: it is refused by name before anything is held, or left out of what goes upstream and named, on each surface, also
// where the provider gets the caller's own body.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { anthropic } from "../../src/providers/anthropic/kind.ts";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1, pricing } from "../support/models.ts";

type Json = Record<string, unknown>;
let gateway: TestGateway;
let customer: Customer;
let upstream: Bun.Server<undefined>;
let sent: { text: string; body: Json; headers: Headers }[] = [];

const USAGE = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };
const ANSWERS: Record<string, object> = {
  "/v1/chat/completions": {
    choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }],
    usage: USAGE,
  },
  "/v1/messages": {
    type: "message",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 9, output_tokens: 1 },
  },
  "/v1/responses": {
    object: "response",
    status: "completed",
    output: [
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "ok", annotations: [] }] },
    ],
    usage: { input_tokens: 9, output_tokens: 1, total_tokens: 10 },
  },
};

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      sent.push({ text, body: JSON.parse(text) as Json, headers: request.headers });
      return Response.json(ANSWERS[new URL(request.url).pathname]);
    },
  });
  const on = (model: string, provider: string, upstream_model: string) =>
    onProvider({ ...PREVIEW_V1, model, upstream_model, requires_paid: false }, provider);
  gateway = await startGateway({
    models: [on("gpt", "gpt", "gpt-6"), on("claude", "claude", "claude-opus-4-8")],
    configure: ({ providers }) => {
      const [usual] = providers;
      if (usual === undefined) throw new Error("no simulator");
      const baseUrl = `http://127.0.0.1:${upstream.port}/v1`;
      const dialect = { ...DIALECTS.openai, responses: true };
      providers.push({ ...usual, name: "gpt", baseUrl, own: { dialect } });
      const own = { envelope: "direct", api_key: "key", models: {} };
      providers.push({ ...usual, name: "claude", kind: anthropic, baseUrl, own });
    },
  });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream.stop(true);
});
beforeEach(() => {
  sent = [];
});

const SAID = [{ role: "user", content: "Say hello" }];
const BODIES: Record<string, object> = {
  "/v1/chat/completions": { max_tokens: 60, messages: SAID },
  "/v1/messages": { max_tokens: 60, messages: SAID },
  "/v1/responses": { max_output_tokens: 60, input: [{ role: "user", content: "Say hello" }] },
};
const MODELS = ["gpt", "claude"];

async function ask(path: string, model: string, said: object, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, ...BODIES[path], ...said }),
  });
  const { error, usage } = (await response.json()) as { error?: { param: string } | null; usage?: Json };
  const named = response.headers.get("x-gw-ignored-parameters")?.split(", ") ?? [];
  return {
    status: response.status,
    param: error?.param,
    held: response.headers.get("x-gw-hold-usd"),
    named,
    usage,
  };
}

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";
const item = (type: string) => ({
  input: [
    { role: "user", content: "Hi" },
    { type, id: "x_1" },
  ],
});
const tiers = (path: string, names: string): [string, object, string][] =>
  names.split(" ").map((service_tier) => [path, { service_tier }, "service_tier"]);

test.each<[path: string, said: object, param: string]>([
  ...tiers(CHAT, "flex scale priority fast ultrafast"),
  ...tiers(RESPONSES, "flex scale priority fast ultrafast"),
  ...tiers(MESSAGES, "priority batch flex"),
  [CHAT, { modalities: ["text", "audio"] }, "modalities"],
  [CHAT, { audio: { voice: "alloy", format: "wav" } }, "audio"],
  [CHAT, { prediction: { type: "content", content: "x" } }, "prediction"],
  [CHAT, { web_search_options: {} }, "web_search_options"],
  [CHAT, { moderation: { model: "omni-moderation-latest" } }, "moderation"],
  [CHAT, { n: 129 }, "n"],
  [CHAT, { prompt_cache_options: { prewarm: true } }, "prompt_cache_options.prewarm"],
  [RESPONSES, { prompt_cache_options: { prewarm: true } }, "prompt_cache_options.prewarm"],
  [RESPONSES, { generate: false }, "generate"],
  [RESPONSES, { reasoning: { mode: "pro" } }, "reasoning.mode"],
  [RESPONSES, { moderation: { model: "omni-moderation-latest" } }, "moderation"],
  [RESPONSES, { access_programs: { cyber: "daybreak_red" } }, "access_programs"],
  [RESPONSES, { background: true }, "background"],
  [RESPONSES, { background_options: { completion_window: "2h" } }, "background_options"],
  [RESPONSES, { image: { context_compression: "enabled" } }, "image"],
  [
    RESPONSES,
    { context_management: [{ type: "compaction", compact_threshold: 1000 }] },
    "context_management",
  ],
  [RESPONSES, item("compaction_trigger"), "input[1].type"],
  [RESPONSES, item("compaction"), "input[1].type"],
  [RESPONSES, item("program"), "input[1].type"],
  [
    RESPONSES,
    { tools: [{ type: "mcp", server_label: "a", server_url: "https://a.example" }] },
    "tools[0].type",
  ],
  [RESPONSES, { tools: [{ type: "programmatic_tool_calling" }] }, "tools[0].type"],
  [RESPONSES, { tools: [{ type: "shell" }] }, "tools[0].type"],
  [MESSAGES, { speed: "fast" }, "speed"],
  [MESSAGES, { fallbacks: "default" }, "fallbacks"],
  [MESSAGES, { fallbacks: [{ model: "claude-opus-5-5" }] }, "fallbacks"],
  [MESSAGES, { fallback_credit_token: "t" }, "fallback_credit_token"],
  [MESSAGES, { billing_policy: { type: "billing_policy", bill_to: "user_profile" } }, "billing_policy"],
  [MESSAGES, { inference_geo: "us" }, "inference_geo"],
  [MESSAGES, { compaction: {} }, "compaction"],
  [
    MESSAGES,
    { context_management: { edits: [{ type: "compact_20260112" }] } },
    "context_management.edits[0].type",
  ],
  [MESSAGES, { container: { skills: [] } }, "container"],
  [MESSAGES, { mcp_servers: [{ type: "url", url: "https://a.example", name: "a" }] }, "mcp_servers"],
  [
    MESSAGES,
    { tools: [{ type: "advisor_20260301", name: "advisor", model: "claude-opus-5-5" }] },
    "tools[0].type",
  ],
  [MESSAGES, { tools: [{ type: "mcp_toolset", mcp_server_name: "a" }] }, "tools[0].type"],
  [MESSAGES, { thread: { type: "create" } }, "thread"],
])("on %s, %o is refused by name, and nothing is held or sent", async (path, said, param) => {
  for (const model of MODELS) {
    const refused = await ask(path, model, said);
    expect([model, refused.status, refused.param, refused.held]).toEqual([model, 400, param, null]);
  }
  expect(sent).toEqual([]);
});

const mark = { cache_control: { type: "ephemeral", ttl: "1h" } };
const marked = {
  ...mark,
  system: [{ type: "text", text: "Be brief.", ...mark }],
  messages: [{ role: "user", content: [{ type: "text", text: "Hi", ...mark }] }],
  tools: [{ name: "look", input_schema: { type: "object" }, ...mark }],
};

test.each<[path: string, model: string, said: object, named: string[], unsaid: string]>([
  [CHAT, "gpt", { service_tier: "default" }, ["service_tier"], "service_tier"],
  [CHAT, "gpt", { prompt_cache_options: { ttl: "12h", mode: "explicit" } }, ["prompt_cache_options"], "12h"],
  [CHAT, "gpt", { prompt_cache_retention: "24h" }, ["prompt_cache_retention"], "24h"],
  [RESPONSES, "gpt", { service_tier: "default" }, ["service_tier"], "service_tier"],
  [
    RESPONSES,
    "gpt",
    { prompt_cache_options: { ttl: "12h", mode: "explicit" } },
    ["prompt_cache_options"],
    "12h",
  ],
  [RESPONSES, "gpt", { prompt_cache_retention: "24h" }, ["prompt_cache_retention"], "24h"],
  [
    RESPONSES,
    "gpt",
    {
      input: [
        { type: "configuration_update", reasoning: { effort: "max" } },
        { role: "user", content: "Hi" },
      ],
    },
    ["configuration_update"],
    "configuration_update",
  ],
  [MESSAGES, "claude", { service_tier: "standard_only" }, ["service_tier"], "service_tier"],
  [
    MESSAGES,
    "claude",
    { diagnostics: { previous_message_id: "msg_1" } },
    ["diagnostics"],
    "previous_message_id",
  ],
  [MESSAGES, "claude", { safeguards: [{ type: "dangerous_tool_use" }] }, ["safeguards"], "safeguards"],
])("on %s to %s, %o is left out and named", async (...[path, model, said, named, unsaid]) => {
  const { status, named: told } = await ask(path, model, said);
  expect([status, told]).toEqual([200, named]);
  expect(sent).toHaveLength(1);
  expect(sent[0]?.text).not.toContain(unsaid);
});

test("cache marks are not sent, top-level or within, where the release has no price for writing", async () => {
  expect((await ask(MESSAGES, "claude", marked)).status).toBe(200);
  expect(sent[0]?.text).not.toContain("cache_control");
});

test("names that cost or route do not reach the vendor, in whatever header a client puts them", async () => {
  const headers = {
    "anthropic-beta":
      "fast-mode-2026-02-01,context-1m-2025-08-07,compact-2026-01-12,server-side-fallback-2026-07-01",
    "anthropic-user-profile-id": "uprof_1",
    "anthropic-workspace-id": "wrkspc_1",
    "openai-organization": "org-1",
    "openai-project": "proj_1",
  };
  for (const [path, model] of [
    [MESSAGES, "claude"],
    [RESPONSES, "gpt"],
  ] as const) {
    sent = [];
    expect((await ask(path, model, {}, headers)).status).toBe(200);
    for (const name of Object.keys(headers)) expect([name, sent[0]?.headers.get(name)]).toEqual([name, null]);
  }
});

/** The hold of a call is what its maximum costs, however the maximum is used. */
test("every choice and all thinking fit the hold: the maximum that is sent is the one that is held for", async () => {
  const { held } = await ask(CHAT, "gpt", { n: 2, reasoning_effort: "high", max_tokens: 1000 });
  expect([sent[0]?.body["max_completion_tokens"], sent[0]?.body["n"]]).toEqual([1000, 2]);
  expect(Number(held)).toBeGreaterThanOrEqual((2 * 1000 * Number(pricing.output_per_million)) / 1e6);
  for (const [path, model, name] of [
    [RESPONSES, "gpt", "max_output_tokens"],
    [MESSAGES, "claude", "max_tokens"],
  ] as const) {
    sent = [];
    await ask(path, model, { [name]: 1234 });
    expect(sent[0]?.body[name]).toBe(1234);
  }
});
