// POST /v1/messages on a route of another shape: translated, with every promise of chat completions in the vendor's
// own format.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { printNumber } from "../../src/domain/print.ts";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { errorBody, eventsOfMessage, finalMessage, readMessage } from "../support/message-schema.ts";
import { MODELS, PREVIEW_V1 } from "../support/models.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { waitFor } from "../support/wait.ts";
import { askedTwice } from "../support/waiters.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    models: [...MODELS, { ...PREVIEW_V1, model: "thinks-1", requires_paid: false }],
  });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const ASKED = { model: "plain-1", max_tokens: 60, messages: [{ role: "user", content: "Say hello" }] };
/** The same request for a provider. */
const CHAT = { model: "plain-1", max_tokens: 60, messages: [{ role: "user", content: "Say hello" }] };
const WEATHER = {
  name: "weather",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

type Sent = Record<string, string>;
const ask = (body: unknown, headers: Sent = {}, path = "/v1/messages"): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": customer.secret, ...headers },
    body: JSON.stringify(body),
  });
const key = (): Sent => ({ "idempotency-key": crypto.randomUUID() });
const streamOf = async (response: Response) => eventsOfMessage(await response.text()).map(({ data }) => data);

const billOf = (requestId: string) =>
  gateway.simulator.bill().filter(({ request_id }) => request_id === requestId);

async function bookedOf(requestId: string) {
  const { usage, charge, hold, evidence, promptBound, outputBound, releaseDigest } =
    await gateway.request(requestId);
  const [call] = billOf(requestId);
  const billed = [call?.prompt_tokens, call?.completion_tokens, call?.outcome];
  return { usage, charge, hold, evidence, promptBound, outputBound, releaseDigest, billed };
}

test("one answer is one charge, one receipt and one bill on chat completions and here, streamed or not", async () => {
  const response = await ask(ASKED);
  const said = readMessage(await response.text());
  const id = said.gateway.request_id;
  expect([response.headers.get("request-id"), response.headers.get("x-request-id")]).toEqual([id, id]);
  expect([said.id, said.model]).toEqual([`msg_${id.slice(4)}`, "plain-1"]);
  const chat = await gateway.chat<{ gateway: GatewayJson; choices: { message: { content: string } }[] }>(
    customer,
    CHAT,
  );
  expect(said.content).toEqual([{ type: "text", text: chat.json.choices[0]?.message.content ?? "" }]);
  const same = ({ request_id: _id, idempotency: _key, ...receipt }: GatewayJson) => receipt;
  expect(same(said.gateway)).toEqual(same(chat.json.gateway));
  const booked = await bookedOf(id);
  expect(booked).toEqual(await bookedOf(chat.json.gateway.request_id));
  const { input_tokens: input, cache_read_input_tokens: read = 0, output_tokens: output } = said.usage;
  expect([input + read, output, "finished"]).toEqual(booked.billed as [number, number, string]);

  const events = await streamOf(await ask({ ...ASKED, stream: true }));
  const streamed = finalMessage(events);
  expect(streamed.content).toEqual(said.content);
  expect([streamed.usage, streamed.stop_reason]).toEqual([said.usage, said.stop_reason]);
  const { charge, usage, billed } = await bookedOf(streamed.gateway.request_id);
  expect({ ...booked, charge, usage, billed }).toEqual(booked);
  const [first] = events;
  expect(first?.type === "message_start" && first.message.gateway.cost).toBeUndefined();
});

test("a bearer, an x-api-key and the same key in both are accepted; two different keys are refused, and so is none", async () => {
  const other = await gateway.customer();
  const shown = async (headers: Sent): Promise<[number, string | undefined]> => {
    const response = await fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(ASKED),
    });
    const text = await response.text();
    if (response.status === 200) return [200, readMessage(text).type];
    const { error, request_id: id } = errorBody.parse(JSON.parse(text));
    expect(response.headers.get("request-id")).toBe(id);
    expect(text).not.toContain(customer.secret);
    return [response.status, error.type];
  };
  const bearer = { authorization: `Bearer ${customer.secret}` };
  expect(await shown({ "x-api-key": customer.secret })).toEqual([200, "message"]);
  expect(await shown(bearer)).toEqual([200, "message"]);
  expect(await shown({ ...bearer, "x-api-key": customer.secret })).toEqual([200, "message"]);
  expect(await shown({ ...bearer, "x-api-key": other.secret })).toEqual([401, "authentication_error"]);
  expect(await shown({})).toEqual([401, "authentication_error"]);
});

test.each([
  ["GET", "/v1/messages", 405, "invalid_request_error"],
  ["DELETE", "/v1/messages/count_tokens", 405, "invalid_request_error"],
  ["POST", "/v1/messages/batches", 404, "not_found_error"],
  ["GET", "/v1/messages/batches/msgbatch_1/results", 404, "not_found_error"],
  ["GET", "//v1//messages/", 405, "invalid_request_error"],
] as const)("%s %s is refused in the form of the surface", async (method, path, status, type) => {
  const response = await fetch(gateway.url + path, { method, headers: { "x-api-key": customer.secret } });
  const { error, request_id: id } = errorBody.parse(await response.json());
  expect([response.status, error.type]).toEqual([status, type]);
  expect([response.headers.get("request-id"), response.headers.get("x-request-id")]).toEqual([id, id]);
});

test("a path that only begins like the surface's is not part of it", async () => {
  const response = await fetch(`${gateway.url}/v1/messagesque`);
  expect([response.status, response.headers.has("request-id")]).toEqual([404, false]);
});

test("a tool loop with reasoning: calls, results, signed and foreign thinking blocks are sent back, and nothing is refused", async () => {
  const body = {
    model: "thinks-1",
    max_tokens: 4096,
    thinking: { type: "adaptive" },
    output_config: { effort: "high" },
    tools: [WEATHER, { type: "web_search_20250305", name: "web_search" }],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
    messages: [{ role: "user", content: [{ type: "text", text: "Weather in Paris?" }] }] as object[],
  };
  for (const stream of [false, true]) {
    const response = await ask({ ...body, stream });
    expect(response.headers.get("x-gw-ignored-parameters")).toBe("web_search_20250305");
    const said = stream ? finalMessage(await streamOf(response)) : readMessage(await response.text());
    expect(said.content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
    expect(said.stop_reason).toBe("tool_use");
    const [, call] = said.content;
    const foreign = { type: "thinking", thinking: "Elsewhere.", signature: "c2lnbmVk" };
    const next = await ask({
      ...body,
      tool_choice: { type: "auto" },
      messages: [
        ...body.messages,
        { role: "assistant", content: [foreign, ...said.content] },
        {
          role: "user",
          content: [
            { type: "text", text: "And?" },
            {
              type: "tool_result",
              tool_use_id: call?.type === "tool_use" ? call.id : "",
              is_error: false,
              content: [{ type: "text", text: "Rain" }],
            },
          ],
        },
        { role: "system", content: "Be brief." },
      ],
    });
    const text = await next.text();
    expect(next.status, text).toBe(200);
    expect(readMessage(text).content.length).toBeGreaterThan(0);
    const record = await gateway.request(said.gateway.request_id);
    expect(record.usage?.completionTokens).toBe(billOf(record.requestId)[0]?.completion_tokens ?? -1);
  }
});

test("refusals name the field, in the vendor's envelope, and nothing is held", async () => {
  const before = await gateway.balance(customer);
  const refused = async (body: object, headers: Sent = {}) => {
    const response = await ask(body, headers);
    const { error, request_id: id } = errorBody.parse(JSON.parse(await response.text()));
    expect(response.headers.get("x-request-id")).toBe(id);
    return [response.status, error.type, error.code, error.param];
  };
  const bad = "invalid_request_error";
  const { max_tokens: _max, ...unbounded } = ASKED;
  expect(await refused(unbounded)).toEqual([400, bad, "invalid_request", "max_tokens"]);
  for (const [name, value] of [
    ["speed", "fast"],
    ["inference_geo", "us"],
    ["container", "c"],
    ["mcp_servers", [{ type: "url", url: "https://tools.example", name: "t" }]],
    ["compaction", { type: "summarize" }],
    ["fallback_credit_token", "t"],
    ["thread", { type: "create" }],
  ] as const)
    expect(await refused({ ...ASKED, [name]: value })).toEqual([400, bad, "unsupported_parameter", name]);
  const threaded = await ask({ ...ASKED, thread: { type: "continue", previous_message_id: "msg_1" } });
  expect(await threaded.json()).toMatchObject({
    error: { details: { error_code: "thread_unsupported_request" } },
  });
  const compacted = { edits: [{ type: "compact_20260112" }] };
  expect(await refused({ ...ASKED, context_management: compacted })).toEqual([
    400,
    bad,
    "unsupported_value",
    "context_management.edits[0].type",
  ]);
  expect(await refused({ ...ASKED, tools: [{ type: "computer_20250124", name: "computer" }] })).toEqual([
    400,
    bad,
    "unsupported_value",
    "tools[0].type",
  ]);
  const document = {
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
  };
  expect(await refused({ ...ASKED, messages: [{ role: "user", content: [document] }] })).toEqual([
    400,
    bad,
    "invalid_request",
    "messages[0].content[0].source.data",
  ]);
  const uncalled = { type: "tool_result", tool_use_id: "toolu_1", content: "Rain" };
  expect(await refused({ ...ASKED, messages: [{ role: "user", content: [uncalled] }] })).toEqual([
    400,
    bad,
    "invalid_request",
    "messages[0].content[0].tool_use_id",
  ]);
  const unanswered = [
    ...ASKED.messages,
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: {} }] },
  ];
  expect(await refused({ ...ASKED, messages: unanswered })).toEqual([
    400,
    bad,
    "invalid_request",
    "messages[1].content[0].id",
  ]);
  const format = { type: "json_schema", schema: { type: "object" } };
  expect(await refused({ ...ASKED, model: "plain-1", output_config: { format } })).toEqual([
    400,
    bad,
    "unsupported_value",
    "output_config.format",
  ]);
  const thinking = { type: "enabled", budget_tokens: 2048 };
  expect(await refused({ ...ASKED, thinking })).toEqual([400, bad, "unsupported_value", "thinking"]);
  const effort = { ...ASKED, model: "thinks-1", output_config: { effort: "max" } };
  expect(await refused(effort)).toEqual([400, bad, "unsupported_value", "output_config.effort"]);
  expect(await refused({ ...ASKED, stop_sequences: ["a", "b", "c", "d", "e"] })).toEqual([
    400,
    bad,
    "array_above_max_length",
    "stop_sequences",
  ]);
  expect(await refused(ASKED, { "anthropic-version": "newest" })).toEqual([
    400,
    bad,
    "invalid_request",
    "anthropic-version",
  ]);
  expect(await refused({ ...ASKED, model: "no-such-1" })).toEqual([
    404,
    "not_found_error",
    "model_not_found",
    "model",
  ]);
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  expect((await refused(ASKED)).slice(0, 3)).toEqual([502, "api_error", "provider_error"]);
  const after = await gateway.balance(customer);
  expect([after.available, after.held]).toEqual([before.available, before.held]);
});

test("fields that agents send to every model are accepted by each, and those it could not be sent are named", async () => {
  const response = await ask(
    {
      ...ASKED,
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2.1" },
        { type: "text", text: "You are brief.", cache_control: { type: "ephemeral" } },
      ],
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      metadata: { user_id: "user_1" },
      top_k: 5,
      service_tier: "standard_only",
      diagnostics: { a: 1 },
    },
    { "anthropic-beta": "claude-code-20250219, context-management-2025-06-27" },
  );
  expect(response.status).toBe(200);
  expect(readMessage(await response.text()).stop_reason).toBe("end_turn");
  expect((response.headers.get("x-gw-ignored-parameters") ?? "").split(", ").toSorted()).toEqual([
    "anthropic-beta",
    "context_management",
    "diagnostics",
    "output_config.effort",
    "service_tier",
    "top_k",
  ]);
});

test("a retry gets the very same bytes and pays nothing; another list of betas under its key is another request", async () => {
  for (const stream of [false, true]) {
    const sent = { ...key(), "anthropic-beta": "b-2, a-1" };
    const body = { ...ASKED, stream };
    const first = await (await ask(body, sent)).text();
    const calls = gateway.simulator.bill().length;
    const again = await ask(body, { ...sent, "anthropic-beta": "a-1,b-2" });
    expect(await again.text()).toBe(first);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(gateway.simulator.bill()).toHaveLength(calls);
    const changed = await ask(body, { ...sent, "anthropic-beta": "a-1" });
    expect([changed.status, errorBody.parse(await changed.json()).error.code]).toEqual([
      422,
      "idempotency_key_reused",
    ]);
    if (!stream) continue;
    const events = eventsOfMessage(first);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
    const rest = await ask(body, { ...sent, "last-event-id": "3" });
    expect(eventsOfMessage(await rest.text())).toEqual(events.slice(3));
  }
});

test("a number that a double cannot represent is accepted in a returned call; under one key another number is another request", async () => {
  const echoed = (id: string) => ({
    ...ASKED,
    model: "thinks-1",
    tools: [WEATHER],
    messages: [
      ...ASKED.messages,
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: { id: printNumber(id) } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "rain" }] },
    ],
  });
  const sent = key();
  const first = await ask(echoed("175928847299117063"), sent);
  const said = await first.text();
  expect([first.status, readMessage(said).stop_reason]).toEqual([200, "end_turn"]);
  expect(await (await ask(echoed("175928847299117063"), sent)).text()).toBe(said);
  expect((await ask(echoed("175928847299117060"), sent)).status).toBe(422);
  expect((await ask(echoed("175928847299117060"))).status).toBe(200);
});

test("a provider that breaks off ends the message with an error and its receipt, charged for what came", async () => {
  const deltas = ["one ", "two ", "three "].map((content) => ({ content }));
  gateway.simulator.behave({ behaviour: { deltas, reset_after_events: 3 }, calls: 1 });
  const response = await ask({ ...ASKED, stream: true });
  const events = await streamOf(response);
  expect(events.slice(-2).map(({ type }) => type)).toEqual(["content_block_stop", "error"]);
  const record = await gateway.request(response.headers.get("x-request-id") ?? "");
  expect([record.state, record.evidence]).toEqual(["settled", "delivered_tokens"]);
  const last = events.at(-1);
  expect(last?.type === "error" && last.gateway?.cost.customer_charge_usd).toBe(Number(record.charge) / 1e9);
});

test("a retry of a running stream follows it to its own end", async () => {
  const [sent, body] = [key(), { ...ASKED, stream: true }];
  const [one, two] = await askedTwice(gateway, customer, () => ask(body, sent));
  const [text, followed] = await Promise.all([one.text(), two.text()]);
  expect(followed).toBe(text);
  expect(two.headers.get("request-id")).toBe(one.headers.get("request-id"));
  expect(billOf(one.headers.get("x-request-id") ?? "")).toHaveLength(1);
});

test("a client that leaves is charged for what it got, and nothing stays held", async () => {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 10, completion_tokens: 60 }, calls: 1 });
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": customer.secret },
    body: JSON.stringify({ ...ASKED, stream: true }),
    signal: leaving.signal,
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.read();
  leaving.abort();
  await waitFor(async () => (await gateway.balance(customer)).held === 0n, "the end of its hold");
  const { state, evidence, charge, hold } = await gateway.request(response.headers.get("x-request-id") ?? "");
  expect([state, evidence]).toEqual(["settled", "delivered_tokens"]);
  expect(charge > 0n && charge < hold).toBe(true);
});

test("a gateway that dies in the middle of its stream: the retry gets what was sent, ended with an error and its receipt", async () => {
  const dying = await ProcessGateway.start({ TOLLGATE_CRASH_AT: "mid_stream:2" });
  try {
    dying.simulator.behave({ behaviour: { tokens_per_second: 40, completion_tokens: 120 } });
    const { secret, organizationId } = await dying.customer();
    const call = {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": secret, ...key() },
      body: JSON.stringify({ ...ASKED, max_tokens: 200, stream: true }),
    };
    const sent = await fetch(`${dying.url}/v1/messages`, call).then((response) =>
      response.text().catch(() => ""),
    );
    expect(sent).not.toContain("message_stop");
    expect(await dying.ended()).toBe("SIGKILL");
    await dying.run();
    const again = await fetch(`${dying.url}/v1/messages`, call);
    const events = eventsOfMessage(await again.text());
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
    const last = events.at(-1)?.data;
    expect(last?.type).toBe("error");
    type Credits = { available_usd: string; held_usd: string };
    const credits = await dying.admin<Credits>("GET", `/credits?org=${organizationId}`);
    expect(credits.held_usd).toBe("0.000000000");
    const charged = last?.type === "error" ? last.gateway?.cost.customer_charge_usd : 0;
    expect(charged).toBeCloseTo(5 - Number(credits.available_usd), 9);
    expect(dying.simulator.bill()).toHaveLength(1);
  } finally {
    await dying.stop();
  }
}, 120_000);

test("an answer beyond its maximum is cut there, and ends as messages end", async () => {
  gateway.simulator.behave({ behaviour: { overrun_tokens: 200 }, calls: 1 });
  const said = finalMessage(await streamOf(await ask({ ...ASKED, stream: true })));
  expect(said.stop_reason).toBe("max_tokens");
  expect(said.usage.output_tokens).toBeLessThanOrEqual(60);
});

test("a wrong path below it answers like the free endpoints, and browsers may send its headers", async () => {
  const wrong = await ask({}, {}, "/v1/messages/batches");
  expect([wrong.status, ((await wrong.json()) as ErrorJson).error.code]).toEqual([404, "unknown_url"]);
});
