// Large conversations, of which the bytes are taken over where they are written as we would print them (decision 99): what
// goes upstream, is quoted and is held does not depend on how a caller writes.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { anthropic } from "../../src/providers/anthropic/kind.ts";
import type { ProviderKind } from "../../src/providers/kind.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1, type TestManifest } from "../support/models.ts";

const on = (model: string, provider: string, also: Partial<TestManifest> = {}): TestManifest =>
  onProvider({ ...PREVIEW_V1, model, requires_paid: false, priority: 1 }, provider, also);
const MODELS = [
  on("chat", "refuses", { priority: 0 }),
  on("chat", "answers"),
  on("claude", "claude", { upstream_model: "claude-opus-4-8", priority: 0 }),
];

let upstream: Bun.Server<undefined>;
let gateway: TestGateway;
let customer: Customer;
/** The bodies that came, by path. */
let came: { path: string; text: string }[] = [];

const USAGE = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };
const ANSWERS: Record<string, () => Response> = {
  "/refuses/chat/completions": () => new Response("not now", { status: 503 }),
  "/refuses/responses": () => new Response("not now", { status: 503 }),
  "/answers/chat/completions": () =>
    Response.json({
      choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
      usage: USAGE,
    }),
  "/answers/responses": () =>
    Response.json({
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: [
        {
          type: "message",
          id: "m",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "ok", annotations: [] }],
        },
      ],
      usage: { input_tokens: 9, output_tokens: 1, total_tokens: 10 },
    }),
  "/claude/messages": () =>
    Response.json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 9, output_tokens: 1 },
    }),
};

function add({ providers }: Config, name: string, kind?: ProviderKind, own?: object): void {
  const [usual] = providers;
  if (usual === undefined) throw new Error("nothing to add to");
  const health = { ...usual.health, openAfterFailures: 1000 };
  providers.push({
    ...usual,
    name,
    baseUrl: `http://127.0.0.1:${upstream.port}/${name}`,
    health,
    ...(kind !== undefined && { kind, own: own as typeof usual.own }),
  });
}

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const path = new URL(request.url).pathname;
      came.push({ path, text: await request.text() });
      return ANSWERS[path]?.() ?? new Response(null, { status: 404 });
    },
  });
  gateway = await startGateway({
    models: MODELS,
    configure: (config) => {
      add(config, "refuses");
      add(config, "answers");
      add(config, "claude", anthropic, { envelope: "direct", api_key: "key", models: {} });
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
beforeEach(() => {
  came = [];
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream.stop(true);
});

const TEXT = 'C:\\new\\temp "quoted" — é 大 😀 \u007f \u2028 </script>\n';
/** What we print as an escape, too. */
const ODD = `${TEXT}\u0007 C:\\users`;
const LONG = TEXT.repeat(40);
const PNG = `data:image/png;base64,${"A".repeat(8000)}`;

const call = (id: string) => ({
  id,
  type: "function",
  function: { name: "look", arguments: '{"at":[1,2.50,1e3]}' },
});
const CHAT = {
  model: "chat",
  messages: [
    { role: "developer", content: LONG },
    ...Array.from({ length: 30 }, (_, at) => [
      { role: "user", content: `${at} ${LONG}`, name: "someone" },
      { role: "assistant", content: null, tool_calls: [call(`c${at}`)] },
      { content: [{ type: "text", text: ODD }], tool_call_id: `c${at}`, role: "tool" },
    ]).flat(),
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: PNG } },
        { type: "text", text: "?" },
      ],
    },
  ],
  tools: [{ type: "function", function: { name: "look", description: LONG, parameters: { minimum: 1.5 } } }],
  max_tokens: 60,
  user: "someone",
};
const MESSAGES = {
  model: "claude",
  max_tokens: 60,
  system: [{ type: "text", text: LONG, cache_control: { type: "ephemeral" } }],
  tools: [
    { name: "look", input_schema: { type: "object", properties: { at: { minimum: 0.1, 2: {}, 1: {} } } } },
  ],
  messages: Array.from({ length: 30 }, (_, at) => [
    { role: "user", content: `${at} ${LONG}` },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "text", text: ODD },
        {
          type: "tool_use",
          id: `toolu_${at}`,
          name: "look",
          input: { at: [1, 1.5], z: 1, a: { 9: 1, 8: 2 } },
        },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: ODD, is_error: null }],
    },
  ]).flat(),
};
const RESPONSES = {
  model: "chat",
  instructions: LONG,
  store: false,
  input: Array.from({ length: 30 }, (_, at) => [
    { type: "message", role: "user", content: [{ type: "input_text", text: `${at} ${LONG}` }] },
    { type: "reasoning", summary: [], encrypted_content: "another's" },
    { type: "function_call", call_id: `c${at}`, name: "look", arguments: '{"at":1}', id: null },
    { type: "function_call_output", call_id: `c${at}`, output: ODD },
  ]).flat(),
  tools: [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }],
  max_output_tokens: 60,
};

/** The same value, written otherwise: with blanks everywhere, and every letter beyond ASCII as an escape. */
const STYLES: Record<string, (body: object) => string> = {
  "as JavaScript prints it": (body) => JSON.stringify(body),
  "with blanks": (body) => JSON.stringify(body, null, 2),
  "in ASCII": (body) =>
    JSON.stringify(body).replaceAll(
      /[^\0-\u007e]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  "with escaped slashes": (body) => JSON.stringify(body).replaceAll("/", "\\/"),
};

async function ask(path: string, text: string): Promise<{ id: string; hold: unknown }> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}` },
    body: text,
  });
  const answer = await response.text();
  expect([response.status, answer]).toEqual([200, expect.any(String)]);
  const id = response.headers.get("x-request-id") ?? "";
  const { hold, charge, promptTokensMax } = (await gateway.request(id)) as unknown as Record<string, unknown>;
  return { id, hold: [hold, charge, promptTokensMax] };
}

test("a tool's answers keep the order of names that their caller wrote, and cost what they cost in ours", async () => {
  const answer = (at: number) => ({ role: "tool", tool_call_id: `c${at}`, content: LONG });
  const steps = Array.from({ length: 30 }, (_, at) => [
    { role: "assistant", content: null, tool_calls: [call(`c${at}`)] },
    answer(at),
  ]).flat();
  const body = { ...CHAT, messages: [{ role: "user", content: "look" }, ...steps] };
  const taken = await ask("/v1/chat/completions", JSON.stringify(body));
  const text = came[1]?.text ?? "";
  for (let at = 0; at < 30; at += 1) expect(text).toInclude(JSON.stringify(answer(at)));
  came = [];
  const printed = await ask("/v1/chat/completions", JSON.stringify(body, null, 2));
  expect(printed.hold).toEqual(taken.hold);
  const other = came[1]?.text ?? "";
  expect(JSON.parse(other)).toEqual(JSON.parse(text));
  expect(Buffer.byteLength(other)).toBe(Buffer.byteLength(text));
});

describe.each([
  {
    path: "/v1/chat/completions",
    body: CHAT,
    upstreams: ["/refuses/chat/completions", "/answers/chat/completions"],
  },
  { path: "/v1/responses", body: RESPONSES, upstreams: ["/refuses/responses", "/answers/responses"] },
  { path: "/v1/messages", body: MESSAGES, upstreams: ["/claude/messages"] },
])("$path", ({ path, body, upstreams }) => {
  test("however it is written, the same bytes go upstream, on a second route, too, for the same hold", async () => {
    const outcomes: { bodies: string[]; hold: unknown }[] = [];
    for (const style of Object.values(STYLES)) {
      came = [];
      const { hold } = await ask(path, style(body));
      expect(came.map((one) => one.path)).toEqual([...upstreams]);
      outcomes.push({ bodies: came.map(({ text }) => text), hold });
    }
    const [first] = outcomes;
    if (first === undefined) throw new Error("nothing was asked");
    for (const outcome of outcomes) expect(outcome).toEqual(first);
    for (const text of first.bodies) expect(text).toBe(JSON.stringify(JSON.parse(text)));
  });
});
