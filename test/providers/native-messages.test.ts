// POST /v1/messages where the upstream supports it natively, and conversations that go from one shape to another:
// content is passed through, nothing is refused on the way, and the ledger equals the bill (surfaces.md §4).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { anthropic } from "../../src/providers/anthropic/kind.ts";
import { google } from "../../src/providers/google/kind.ts";
import type { ProviderKind } from "../../src/providers/kind.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import {
  errorBody,
  eventsOfMessage,
  finalMessage,
  type MessageEvent,
  type MessageJson,
  readMessage,
} from "../support/message-schema.ts";
import { onProvider, PREVIEW_V1, type TestManifest } from "../support/models.ts";

const on = (model: string, provider: string, upstream_model: string, also: Partial<TestManifest> = {}) =>
  onProvider({ ...PREVIEW_V1, model, upstream_model, requires_paid: false }, provider, also);
const MODELS = [
  on("opus", "claude", "claude-opus-4-8"),
  on("sonnet", "claude", "claude-sonnet-4-5"),
  on("gpt", "simulator", "sim-base-1"),
  on("gemini", "gemini", "gemini-3.8-flash"),
  on("either", "claude", "claude-opus-4-8", { priority: 0 }),
  on("either", "simulator", "sim-base-2", { priority: 1 }),
  on("odd", "odd", "claude-opus-4-8"),
];

let gateway: TestGateway;
let customer: Customer;
let odd: ReturnType<typeof Bun.serve>;
/** What the odd provider answers next, and the requests it received. */
let says: string | ((asked: Request) => Response) = "";
let asked: { headers: Headers; text: string } | null = null;

interface Added {
  name: string;
  kind: ProviderKind;
  baseUrl: string;
  own: object;
}

function add(config: Config, { name, kind, baseUrl, own }: Added): void {
  const [usual] = config.providers;
  if (usual === undefined) throw new Error("nothing to add to");
  const health = { ...usual.health, openAfterFailures: 1000, halfOpenAfterMs: 1 };
  config.providers.push({ ...usual, name, kind, baseUrl, own: own as typeof usual.own, health });
}

beforeAll(async () => {
  odd = Bun.serve({
    port: 0,
    async fetch(request) {
      asked = { headers: request.headers, text: await request.clone().text() };
      if (typeof says !== "string") return says(request);
      const type = says.startsWith("{") ? "application/json" : "text/event-stream";
      return new Response(says, { headers: { "content-type": type } });
    },
  });
  gateway = await startGateway({
    models: MODELS,
    configure: (config) => {
      const at = config.providers[0]?.baseUrl?.replace(/\/v1$/, "") ?? "";
      const claude = { envelope: "direct", api_key: "key", models: {} };
      add(config, { name: "claude", kind: anthropic, baseUrl: `${at}/anthropic/v1`, own: claude });
      add(config, { name: "odd", kind: anthropic, baseUrl: `http://127.0.0.1:${odd.port}/v1`, own: claude });
      const gemini = { envelope: "direct", api_key: "key" };
      add(config, { name: "gemini", kind: google, baseUrl: `${at}/google/v1beta`, own: gemini });
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await odd.stop(true);
});

type Sent = Record<string, string>;
const ask = (body: object, headers: Sent = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/messages?beta=true`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}`, ...headers },
    body: JSON.stringify(body),
  });

async function answer(body: { stream?: boolean }, headers: Sent = {}): Promise<MessageJson> {
  const response = await ask(body, headers);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return body.stream === true
    ? finalMessage(eventsOfMessage(text).map(({ data }) => data))
    : readMessage(text);
}

const billOf = (requestId: string) =>
  gateway.simulator.bill().filter(({ request_id }) => request_id === requestId);

/** Charged as the provider would, by its own figures. */
async function expectBilled({ gateway: receipt, usage }: MessageJson): Promise<void> {
  const bill = billOf(receipt.request_id);
  expect(bill.map(({ outcome }) => outcome)).toEqual(["finished"]);
  const record = await gateway.request(receipt.request_id);
  const [call] = bill;
  const figures = [call?.prompt_tokens ?? -1, call?.completion_tokens ?? -1];
  expect([record.usage?.promptTokens, record.usage?.completionTokens]).toEqual(figures);
  const {
    input_tokens: fresh,
    cache_read_input_tokens: read = 0,
    cache_creation_input_tokens: made = 0,
  } = usage;
  expect([fresh + read + made, usage.output_tokens]).toEqual(figures);
  expect(receipt.cost.customer_charge_usd).toBe(Number(record.charge) / 1e9);
}

const tools = [
  {
    name: "weather",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];

/** What an agent sends: system in blocks, adaptive thinking, an effort, a system turn, a deferred tool, its betas. */
const agent = (model: string, stream: boolean) => ({
  model,
  max_tokens: 16_000,
  stream,
  thinking: { type: "adaptive" },
  output_config: { effort: "high" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  metadata: { user_id: "user_1" },
  system: [
    { type: "text", text: "x-anthropic-billing-header: cc_version=2.1" },
    { type: "text", text: "You are brief.", cache_control: { type: "ephemeral" } },
  ],
  tools: [
    ...tools,
    { ...tools[0], name: "later", defer_loading: true },
    { type: "web_search_20250305", name: "web_search" },
  ],
});
const BETAS = {
  "anthropic-beta": "claude-code-20250219,context-management-2025-06-27,context-1m-2025-08-07",
};

describe.each([
  ["one route of its own shape", ["opus"]],
  ["one route by budget", ["sonnet"]],
  ["one of OpenAI's shape", ["gpt"]],
  ["one of Gemini's", ["gemini"]],
  ["routes that change with every turn", ["opus", "gpt", "sonnet", "gemini"]],
  ["and back", ["gemini", "sonnet", "gpt", "opus"]],
])("a tool loop with thinking over %s", (_, models) => {
  for (const stream of [true, false])
    test(`is never refused, and billed as reported, ${stream ? "streamed" : "whole"}`, async () => {
      gateway.simulator.behave({
        behaviour: {
          tool_rounds: [1, 2, 3].map((n) => [
            { name: "weather", arguments: { city: `a${n}` } },
            { name: "weather", arguments: { city: `b${n}` } },
          ]),
        },
      });
      const messages: object[] = [
        { role: "user", content: [{ type: "text", text: "Weather?" }] },
        { role: "system", content: "Be kind." },
      ];
      try {
        for (let turn = 0; turn < 4; turn += 1) {
          const model = models[turn % models.length] ?? "";
          const said = await answer({ ...agent(model, stream), messages } as object, BETAS);
          await expectBilled(said);
          messages.push({ role: "assistant", content: said.content });
          const results = said.content.flatMap((block) =>
            block.type === "tool_use"
              ? [
                  {
                    type: "tool_result",
                    tool_use_id: block.id,
                    content: `Rain in ${String(block.input["city"])}`,
                  },
                ]
              : [],
          );
          expect(results).toHaveLength(turn < 3 ? 2 : 0);
          expect(said.stop_reason).toBe(turn < 3 ? "tool_use" : "end_turn");
          messages.push({ role: "user", content: turn < 3 ? results : "Thanks. And now?" });
        }
      } finally {
        gateway.simulator.behaveWell();
      }
      const said = await answer({ ...agent(models[0] ?? "", stream), messages } as object, BETAS);
      await expectBilled(said);
    });
});

test("one scripted answer costs the same on both surfaces, on a route of the vendor's own shape", async () => {
  gateway.simulator.behave({ behaviour: { text: "Hello there, you." } });
  try {
    const hello = { model: "opus", max_tokens: 60, messages: [{ role: "user", content: "Say hello" }] };
    const streamed = await answer({ ...hello, stream: true } as object);
    const whole = await answer(hello as object);
    const chat = await gateway.chat<{ gateway: MessageJson["gateway"] }>(customer, {
      ...hello,
      reasoning_effort: "none",
    });
    const charge = chat.json.gateway.cost.customer_charge_usd;
    for (const { gateway: receipt } of [streamed, whole])
      expect(receipt.cost.customer_charge_usd).toBe(charge);
    expect(streamed.content).toEqual(whole.content);
    await expectBilled(streamed);
    await expectBilled(whole);
  } finally {
    gateway.simulator.behaveWell();
  }
});

test("a provider of its own shape that is away is followed by one of another", async () => {
  gateway.simulator.behave({ behaviour: { status: 529 }, model: "claude-opus-4-8", calls: 1 });
  const said = await answer(
    {
      ...agent("either", true),
      messages: [{ role: "user", content: "Hi" }],
    } as object,
    BETAS,
  );
  expect(said.gateway.attempts).toBe(2);
  expect(said.gateway.route.provider).toBe("simulator");
});

const MESSAGE = { model: "odd", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
const event = (data: object): string =>
  `event: ${"type" in data ? String(data.type) : ""}\ndata: ${JSON.stringify(data)}\n\n`;
const START = {
  type: "message_start",
  message: {
    id: "msg_up",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 1 },
  },
};
const text = (words: string, more = {}) => [
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${words}","unknown":{"b":1,"a":2}}}\n\n`,
  event({ type: "content_block_stop", index: 0, ...more }),
];
const LAST = {
  type: "message_delta",
  delta: { stop_reason: "stop_sequence", stop_sequence: "END" },
  usage: { output_tokens: 3 },
};
const STOP = event({ type: "message_stop" });

test("events are passed on byte for byte, with our names in the first and our figures in the last", async () => {
  says = [
    event(START),
    event({ type: "ping" }),
    ...text("Hi"),
    event({ type: "later_event", a: 1 }),
    event(LAST),
    STOP,
  ].join("");
  const response = await ask({ ...MESSAGE, stream: true, metadata: { user_id: "alice" } }, BETAS);
  const body = await response.text();
  expect(body).toContain(text("Hi")[1] ?? "none");
  expect(body).toContain(`event: later_event\ndata: {"type":"later_event","a":1}\n\n`);
  const id = response.headers.get("request-id") ?? "";
  expect(body).toContain(`"id":"msg_${id.slice(4)}","model":"odd"`);
  expect(body).toContain(`"delta":{"stop_reason":"stop_sequence","stop_sequence":"END"}`);
  expect(body).toContain(`"usage":{"output_tokens":3,"input_tokens":7`);
  expect(body).not.toContain("msg_up");
  expect(asked?.headers.get("anthropic-beta")).toBe("claude-code-20250219,context-management-2025-06-27");
  expect(response.headers.get("x-gw-ignored-parameters")).toBe("anthropic-beta:context-1m-2025-08-07");
  expect(asked?.text).not.toContain("alice");
  expect((await gateway.request(id)).usage).toMatchObject({ promptTokens: 7, completionTokens: 3 });
});

test("a whole body is passed on unchanged, including numbers that a double cannot represent", async () => {
  says = `{"id":"msg_up","type":"message","later":[1],"role":"assistant","model":"claude","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"n":12345678901234567890}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":3,"later":1}}`;
  const response = await ask({ ...MESSAGE, tools });
  const id = response.headers.get("request-id") ?? "";
  const expected = says
    .replace("msg_up", `msg_${id.slice(4)}`)
    .replace('"model":"claude"', '"model":"odd"')
    .replace(/"usage":.*$/, "");
  const body = await response.text();
  expect(body).toStartWith(expected);
  expect(body).toContain('"later":1');
  expect(body).toContain('"gateway":{');
});

const ended = (stop_reason: string, also = {}) => ({
  ...LAST,
  delta: { stop_reason, stop_sequence: null, ...also },
});
const CALL = { type: "tool_use", id: "toolu_1", name: "weather", input: {} };
const call = [
  event({ type: "content_block_start", index: 0, content_block: CALL }),
  event({ type: "content_block_stop", index: 0 }),
];
const SEQUENCE = { stop_sequence: "END" };

test.each<[what: string, said: string[], ends: object[], stop: [string, string | null], kept: string]>([
  [
    "a maximum, then a turn",
    text("Hi"),
    [ended("max_tokens"), ended("end_turn")],
    ["max_tokens", null],
    "length",
  ],
  [
    "a turn, then a refusal",
    text("Hi"),
    [ended("end_turn"), ended("refusal")],
    ["refusal", null],
    "content_filter",
  ],
  [
    "a refusal, then a stop",
    text("Hi"),
    [ended("refusal"), ended("stop_sequence", SEQUENCE)],
    ["refusal", null],
    "content_filter",
  ],
  ["a turn with calls", call, [ended("end_turn")], ["tool_use", null], "tool_calls"],
  [
    "a full window",
    text("Hi"),
    [ended("model_context_window_exceeded")],
    ["model_context_window_exceeded", null],
    "length",
  ],
  [
    "a stop that was asked for",
    text("Hi"),
    [ended("stop_sequence", SEQUENCE)],
    ["stop_sequence", "END"],
    "stop",
  ],
])("the end that a client reads is the one recorded: %s", async (...[, said, ends, stop, kept]) => {
  const events = [event(START), ...said, ...ends.map(event), STOP].join("");
  says = events.replaceAll(`,"unknown":{"b":1,"a":2}`, "");
  const streamed = await ask({ ...MESSAGE, tools, stream: true });
  const read = finalMessage(eventsOfMessage(await streamed.text()).map(({ data }) => data));
  const record = await gateway.request(streamed.headers.get("request-id") ?? "");
  expect([read.stop_reason, read.stop_sequence, record.finishReason]).toEqual([...stop, kept]);
});

test("a whole answer with calls that says its turn ended is recorded and shown as one with calls", async () => {
  const body = { ...START.message, content: [CALL], stop_reason: "end_turn", stop_sequence: null };
  says = JSON.stringify(body);
  const response = await ask({ ...MESSAGE, tools });
  const { stop_reason } = readMessage(await response.text());
  const record = await gateway.request(response.headers.get("request-id") ?? "");
  expect([stop_reason, record.finishReason]).toEqual(["tool_use", "tool_calls"]);
});

describe("what newer and older clients send", () => {
  const [tool] = tools;
  const change = (type: string) => ({ type, tool: { type: "tool_reference", tool_name: tool?.name } });
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const format = { type: "json_schema", schema };
  const home =
    "mid-conversation-system-clear-at-2026-08-21,mid-conversation-tool-changes-2026-07-01,task-budgets-2026-03-13,thinking-display-updates-2026-08-18,thinking-token-count-2026-05-13";
  const body = (model: string) => ({
    model,
    max_tokens: 4000,
    tools,
    thinking: { type: "adaptive", display: "updates" },
    output_config: { effort: "low", task_budget: { type: "tokens", total: 9000 } },
    output_format: format,
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "system",
        content: [{ type: "text", text: "Be brief" }, change("tool_removal"), change("tool_addition")],
        clear_at: "never",
        output_config: { effort: "high" },
      },
      { role: "system", output_config: { effort: "medium" } },
    ],
  });

  test("reaches the vendor as it accepts it; a turn's own effort is left out and named", async () => {
    says = `{"id":"msg_up","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":3}}`;
    const response = await ask(body("odd"), { "anthropic-beta": `${home},per-turn-control-2026-07-01` });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gw-ignored-parameters")).toBe(
      "messages.output_config, anthropic-beta:per-turn-control-2026-07-01",
    );
    expect(asked?.headers.get("anthropic-beta")).toBe(home);
    const { messages, output_format: _older, ...also } = body("odd");
    const [user, system] = messages;
    const { output_config: _own, ...said } = system ?? {};
    expect(JSON.parse(asked?.text ?? "")).toMatchObject({
      messages: [user, said],
      thinking: also.thinking,
      output_config: { ...also.output_config, format },
    });
    expect(asked?.text).not.toContain("output_format");
  });

  test.each(["opus", "sonnet", "gpt", "gemini"])(
    "%s answers it in the form that was asked for",
    async (model) => {
      const { thinking, output_config: output, ...asked } = body(model);
      const own = model === "opus" ? { thinking, output_config: output } : {};
      const said = await answer({ ...asked, ...own } as { stream?: boolean }, { "anthropic-beta": home });
      const text = said.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      expect(JSON.parse(text)).toEqual({ city: "text" });
    },
  );

  test("a format in both places, and a tool that a system message defines, are refused by name", async () => {
    const both = { ...body("opus"), output_config: { format } };
    const defined = { type: "tool_addition", tool: { type: "tool_definition", definition: tool } };
    const messages = [...body("opus").messages.slice(0, 1), { role: "system", content: [defined] }];
    for (const [sent, param] of [
      [both, "output_format"],
      [{ ...body("opus"), messages }, "messages[1].content[0].type"],
    ] as const) {
      const response = await ask(sent);
      const { error } = errorBody.parse(await response.json());
      expect([response.status, error.param]).toEqual([400, param]);
    }
  });
});

/** Streams that a provider could send, each with the end of ours. */
const ODD: [string, string[], MessageEvent["type"][]][] = [
  [
    "begins twice",
    [event(START), event(START), ...text("Hi"), event(LAST), STOP],
    ["message_delta", "message_stop"],
  ],
  ["never begins", [...text("Hi"), event(LAST), STOP], ["message_delta", "message_stop"]],
  [
    "leaves its block open",
    [event(START), ...text("Hi").slice(0, 2), event(LAST), STOP],
    ["content_block_stop", "message_delta", "message_stop"],
  ],
  [
    "begins a block twice",
    [event(START), text("Hi")[0] ?? "", ...text("Hi"), event(LAST), STOP],
    ["message_delta", "message_stop"],
  ],
  [
    "counts its blocks from five",
    [event(START), ...text("Hi").map((one) => one.replace('"index":0', '"index":5')), event(LAST), STOP],
    ["content_block_stop", "message_delta", "message_stop"],
  ],
  [
    "goes on with a block that never began",
    [event(START), ...text("Hi").slice(1, 2), event(LAST), STOP],
    ["content_block_stop", "message_delta", "message_stop"],
  ],
  [
    "ends a block that never began",
    [event(START), event({ type: "content_block_stop", index: 3 }), ...text("Hi"), event(LAST), STOP],
    ["content_block_stop", "message_delta", "message_stop"],
  ],
  [
    "tells its end in two pieces",
    [
      event(START),
      ...text("Hi"),
      event(LAST),
      event({ type: "message_delta", delta: {}, usage: { output_tokens: 4 } }),
      STOP,
    ],
    ["message_delta", "message_stop"],
  ],
  ["breaks off", [event(START), ...text("Hi").slice(0, 2)], ["content_block_stop", "error"]],
  [
    "fails in the middle",
    [
      event(START),
      ...text("Hi").slice(0, 2),
      event({ type: "error", error: { type: "overloaded_error", message: "busy" } }),
    ],
    ["content_block_stop", "error"],
  ],
];

test.each(ODD)(
  "a provider that %s is reported to clients in a form they can read",
  async (_, events, end) => {
    says = events.join("").replaceAll(`,"unknown":{"b":1,"a":2}`, "");
    const response = await ask({ ...MESSAGE, stream: true });
    const read = eventsOfMessage(await response.text()).map(({ data }) => data);
    expect(read.slice(-end.length).map(({ type }) => type)).toEqual(end);
    expect(read.filter(({ type }) => type === "message_start")).toHaveLength(1);
    if (end.at(-1) === "message_stop")
      expect(finalMessage(read).content).toEqual([{ type: "text", text: "Hi" }]);
  },
);

test.each(["opus", "sonnet", "gpt", "gemini"])(
  "all that the vendor's SDK can say of a tool is accepted: %s",
  async (model) => {
    const input_schema = { type: "object", properties: { city: { type: "string" } } };
    const says = {
      strict: true,
      eager_input_streaming: true,
      defer_loading: false,
      allowed_callers: ["direct"],
    };
    const tool = { name: "weather", input_schema, input_examples: [{ city: "Oslo" }], ...says };
    const said = await answer({ ...MESSAGE, model, max_tokens: 2000, tools: [tool] } as object);
    expect(said.content.length).toBeGreaterThan(0);
  },
);

test("an event whose name contains a line end is left out", async () => {
  const forged = `data: ${JSON.stringify({ type: "x\n\ndata: {}\n\nevent: message_stop" })}\n\n`;
  says = [event(START), ...text("Hi"), forged, event(LAST), STOP]
    .join("")
    .replaceAll(`,"unknown":{"b":1,"a":2}`, "");
  const response = await ask({ ...MESSAGE, stream: true });
  const read = eventsOfMessage(await response.text()).map(({ data }) => data);
  expect(finalMessage(read).content).toEqual([{ type: "text", text: "Hi" }]);
});

test("a provider that exceeds the maximum is cut there: blocks are closed, and the message ends", async () => {
  gateway.simulator.behave({ behaviour: { overrun_tokens: 300 }, calls: 1 });
  const said = await answer({
    model: "opus",
    max_tokens: 40,
    stream: true,
    messages: MESSAGE.messages,
  } as object);
  expect(said.stop_reason).toBe("max_tokens");
  expect(said.usage.output_tokens).toBeLessThanOrEqual(40);
  gateway.simulator.behave({ behaviour: { overrun_tokens: 300 }, calls: 1 });
  const whole = await answer({ model: "opus", max_tokens: 40, messages: MESSAGE.messages } as object);
  expect([whole.stop_reason, whole.usage.output_tokens <= 40]).toEqual(["max_tokens", true]);
});

test("a caller's field that the vendor refuses is named as the caller wrote it", async () => {
  says = () =>
    Response.json(
      {
        type: "error",
        error: { type: "invalid_request_error", message: "novelty: Extra inputs are not permitted" },
      },
      { status: 400 },
    );
  const response = await ask({ ...MESSAGE, novelty: { a: 1 } });
  const { error } = errorBody.parse(JSON.parse(await response.text()));
  expect([response.status, error.param]).toEqual([400, "novelty"]);
});

test("a keyed stream of the vendor's own events is replayed and resumed byte for byte", async () => {
  const sent = { "idempotency-key": crypto.randomUUID() };
  const body = { model: "opus", max_tokens: 60, stream: true, messages: MESSAGE.messages };
  const first = await (await ask(body, sent)).text();
  const events = eventsOfMessage(first);
  expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
  const again = await ask(body, sent);
  expect([await again.text(), again.headers.get("idempotent-replayed")]).toEqual([first, "true"]);
  const rest = await ask(body, { ...sent, "last-event-id": "4" });
  expect(eventsOfMessage(await rest.text())).toEqual(events.slice(4));
});
