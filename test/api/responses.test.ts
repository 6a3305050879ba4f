// POST /v1/responses over HTTP: the promises of every surface in its own format, schema-checked, on the provider's
// one bill.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import type { ErrorJson } from "../support/events.ts";
import { MODELS, onProvider, PLAIN, PREVIEW_V1 } from "../support/models.ts";
import { readResponseStream, type ResponseJson, responseSchema } from "../support/response-schema.ts";
import { reads, waitFor } from "../support/wait.ts";
import { askedTwice } from "../support/waiters.ts";

/** Two providers: one speaks this shape itself, the other gets chat completions. */
const ROUTES = [
  { how: "as it was written", plain: "plain-1", thinking: "base-preview-v1", beforeWords: 4 },
  { how: "in translation", plain: "plain-chat", thinking: "thinking-chat", beforeWords: 1 },
];
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      ...MODELS,
      onProvider(PLAIN, "chat-only", { model: "plain-chat" }),
      onProvider(PREVIEW_V1, "chat-only", { model: "thinking-chat" }),
    ],
    configure: ({ providers }) => {
      const [usual] = providers;
      const own = { dialect: { ...DIALECTS.openai, responses: false } };
      if (usual !== undefined) providers.push({ ...usual, name: "chat-only", own });
    },
  });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

type Sent = Record<string, string>;
const ASKED = { model: "plain-1", input: "Say hello", max_output_tokens: 60 };
const LOOK = {
  type: "function",
  name: "look",
  parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
};

const ask = (body: unknown, headers: Sent = {}, secret = customer.secret): Promise<Response> =>
  fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}`, ...headers },
    body: JSON.stringify(body),
  });

const answered = async (body: unknown, headers: Sent = {}): Promise<ResponseJson> =>
  responseSchema.parse(await (await ask(body, headers)).json());

const streamed = async (body: object, headers: Sent = {}) => {
  const response = await ask({ ...body, stream: true }, headers);
  const raw = await response.text();
  return { response, raw, ...readResponseStream(raw) };
};

const saidIn = ({ output }: ResponseJson): string =>
  output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => ("text" in part ? part.text : ""))
    .join("");

const key = (): Sent => ({ "idempotency-key": crypto.randomUUID() });
const billOf = (id: string) => gateway.simulator.bill().filter(({ request_id }) => request_id === id);

/** What the ledger has, without what is unique to each request. */
async function bookedOf(requestId: string) {
  const { usage, charge, evidence, variance, minimumApplied, outputBound, releaseDigest } =
    await gateway.request(requestId);
  const [call] = billOf(requestId);
  const billed = { prompt: call?.prompt_tokens, completion: call?.completion_tokens, outcome: call?.outcome };
  return { usage, charge, evidence, variance, minimumApplied, outputBound, releaseDigest, billed };
}

describe.each(ROUTES)("$how", ({ plain, thinking, beforeWords }) => {
  const ASKED = { model: plain, input: "Say hello", max_output_tokens: 60 };
  const LIVE = { ...ASKED, stream: true };
  const CHAT = { model: plain, messages: [{ role: "user", content: "Say hello" }], max_tokens: 60 };

  test("one answer of a provider is one charge and one bill here and on chat completions, streamed or not", async () => {
    const json = await answered(ASKED);
    const chat = await gateway.chat<{ gateway: { request_id: string } }>(customer, CHAT);
    const { final, response } = await streamed(ASKED);
    const ids = [json, chat.json, final].map((one) => one.gateway.request_id ?? "");
    expect(json.id).toBe(`resp_${ids[0]?.slice(4)}`);
    expect(response.headers.get("x-request-id")).toBe(ids[2] ?? "none");
    const [mine, theirs, live] = [
      await bookedOf(ids[0] ?? ""),
      await bookedOf(ids[1] ?? ""),
      await bookedOf(ids[2] ?? ""),
    ];
    expect(mine).toEqual(theirs);
    expect(live).toEqual(theirs);
    expect(json.usage).toMatchObject({
      input_tokens: mine.billed.prompt ?? -1,
      output_tokens: mine.billed.completion ?? -1,
    });
    expect(saidIn(final)).toBe(saidIn(json));
    expect(saidIn(json)).not.toBe("");
  });

  test("reasoning is returned as its summary, within the published modes", async () => {
    const asked = {
      model: thinking,
      input: "Say hello",
      reasoning: { effort: "low", summary: "auto" },
    };
    const { final } = await streamed(asked);
    expect(final.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(final.usage?.output_tokens_details.reasoning_tokens).toBe(8);
    const refused = await ask({ ...asked, reasoning: { effort: "xhigh" } });
    const { error } = (await refused.json()) as ErrorJson;
    expect([refused.status, error.code, error.param]).toEqual([400, "unsupported_value", "reasoning.effort"]);
  });

  test("tools are called, answered, and called again by their own names; searches are dropped by name", async () => {
    const tools = [
      LOOK,
      { type: "web_search" },
      { type: "namespace", name: "files", description: "Files", tools: [{ ...LOOK, name: "read" }] },
      { type: "custom", name: "patch", description: "Patches" },
    ];
    const base = { model: thinking, tools, reasoning: { effort: "none" } };
    for (const [word, expected] of [
      ["look", { type: "function_call", name: "look", arguments: '{"at":"text"}' }],
      [
        "files__read",
        { type: "function_call", name: "read", namespace: "files", arguments: '{"at":"text"}' },
      ],
      ["patch", { type: "custom_tool_call", name: "patch", input: "text" }],
    ] as const) {
      const input: unknown[] = [{ role: "user", content: `Use ${word}` }];
      const { final, response } = await streamed({ ...base, input });
      expect(response.headers.get("x-gw-ignored-parameters")).toBe("tools.web_search");
      const [call] = final.output;
      expect(call).toMatchObject(expected);
      expect((await answered({ ...base, input })).output[0]).toMatchObject(expected);
      const id = call !== undefined && "call_id" in call ? call.call_id : "";
      const output = { type: `${call?.type}_output`, call_id: id, output: "It is light." };
      const next = await answered({ ...base, input: [...input, ...final.output, output] });
      expect([next.status, saidIn(next) === ""]).toEqual(["completed", false]);
    }
  });

  test("tools that a conversation adds are called like all others; a search for tools goes where it is known", async () => {
    const found = { id: null, call_id: "search_1", execution: "client", status: "completed" };
    const group = { type: "namespace", name: "files", description: "Files" };
    const asked = (word: string, added: object = { type: "web_search" }) => ({
      model: thinking,
      reasoning: { effort: "none" },
      tools: [{ type: "tool_search", execution: "client", parameters: { type: "object" } }],
      input: [
        {
          type: "additional_tools",
          id: "at_1",
          role: "developer",
          tools: [{ ...group, tools: [{ ...LOOK, name: "read" }] }, added],
        },
        { role: "user", content: `Use ${word}` },
        { type: "tool_search_call", ...found, arguments: { query: "look" } },
        { type: "tool_search_output", ...found, tools: [{ ...LOOK, defer_loading: true }] },
      ],
    });
    const { final, response } = await streamed(asked("files__read"));
    const ignored = response.headers.get("x-gw-ignored-parameters")?.split(", ").toSorted();
    const elsewhere = ["tool_search_call", "tool_search_output", "tools.tool_search"];
    expect(ignored).toEqual([...(beforeWords === 1 ? elsewhere : []), "tools.web_search"]);
    expect(final.output[0]).toMatchObject({ type: "function_call", namespace: "files", name: "read" });
    const { output } = await answered(asked("look"));
    expect(output[0]).toMatchObject({ type: "function_call", name: "look" });
    const refused = (await (await ask(asked("look", { type: "image_generation" }))).json()) as ErrorJson;
    expect(refused.error).toMatchObject({ code: "unsupported_value", param: "input[0].tools[1].type" });
  });

  test("a call that runs beside the conversation may wait for its result, and gets it later", async () => {
    const look = { ...LOOK, async: true };
    const call = {
      type: "function_call",
      call_id: "call_1",
      name: "look",
      arguments: '{"at":"it"}',
      async: true,
    };
    const user = (content: string) => ({ role: "user", content });
    const output = { type: "function_call_output", call_id: "call_1", output: "It is light." };
    const before = [user("Look there"), call, user("Say hello meanwhile")];
    for (const input of [before, [...before, output, user("And now?")]]) {
      const said = await answered({ ...ASKED, model: thinking, tools: [look], input });
      expect([said.status, saidIn(said) === ""]).toEqual(["completed", false]);
    }
    const waiting = [user("Look there"), { ...call, async: false }, user("Say hello")];
    const refused = (await (
      await ask({ ...ASKED, model: thinking, tools: [LOOK], input: waiting })
    ).json()) as ErrorJson;
    expect(refused.error).toMatchObject({ code: "invalid_request", param: "input[1].call_id" });
  });

  test("an answer's format can be requested, and log probabilities are returned", async () => {
    const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    const form = { format: { type: "json_schema", name: "a", schema, strict: true } };
    const json = await answered({
      ...ASKED,
      model: thinking,
      text: form,
      reasoning: { effort: "none" },
    });
    expect(JSON.parse(saidIn(json))).toEqual({ a: 1 });
    const logged = {
      include: ["message.output_text.logprobs"],
      top_logprobs: 1,
      reasoning: { effort: "none" },
    };
    const { final } = await streamed({ ...ASKED, model: thinking, ...logged });
    const [part] = final.output.flatMap((item) => (item.type === "message" ? item.content : []));
    const told = part !== undefined && "logprobs" in part ? part.logprobs : [];
    expect(told.map(({ token }) => token).join("")).toBe(saidIn(final));
  });

  test("an answer that reaches its maximum is incomplete, and says why", async () => {
    const asked = { ...ASKED, max_output_tokens: 16 };
    gateway.simulator.behave({ behaviour: { completion_tokens: 40 }, calls: 2 });
    const json = await answered(asked);
    expect([json.status, json.incomplete_details?.reason]).toEqual(["incomplete", "max_output_tokens"]);
    const { events, final } = await streamed(asked);
    expect([events.at(-1)?.type as string, final.usage?.output_tokens]).toEqual(["response.incomplete", 16]);
    gateway.simulator.behave({ behaviour: { overrun_tokens: 400 }, calls: 1 });
    expect((await streamed({ ...ASKED, max_output_tokens: 20 })).final.status).toBe("incomplete");
  });

  test("every refusal uses OpenAI's envelope and this surface's terms, and holds nothing", async () => {
    const before = await gateway.balance(customer);
    const read = async (body: object, headers: Sent = {}, secret?: string) => {
      const response = await ask(body, headers, secret);
      const { error } = (await response.json()) as ErrorJson;
      return [response.status, error.code, error.param];
    };
    expect(await read(ASKED, {}, "nothing")).toEqual([401, "invalid_api_key", null]);
    expect(await read({ ...ASKED, store: true })).toEqual([400, "unsupported_value", "store"]);
    expect(await read({ ...ASKED, model: "nope" })).toEqual([404, "model_not_found", "model"]);
    expect(await read({ ...ASKED, tools: [LOOK] })).toEqual([400, "unsupported_value", "tools"]);
    expect(await read({ ...ASKED, text: { format: { type: "json_object" } } })).toEqual([
      400,
      "unsupported_value",
      "text.format",
    ]);
    const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
    expect(await read({ ...ASKED, input: [{ role: "user", content: [image] }] })).toEqual([
      400,
      "unsupported_value",
      "input[0].content[0]",
    ]);
    expect(await read({ ...ASKED, max_output_tokens: 131_072 })).toEqual([
      400,
      "context_length_exceeded",
      "input",
    ]);
    gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
    expect(await read(ASKED)).toEqual([502, "provider_error", null]);
    gateway.simulator.behave({ behaviour: { status: 400, error_message: "Invalid 'top_p'" }, calls: 1 });
    expect(await read({ ...ASKED, top_p: 0.5 })).toEqual([400, "invalid_request", "top_p"]);
    expect(await gateway.balance(customer)).toEqual(before);
  });

  test("a retry gets the very same bytes, pays nothing and calls nobody; a reader goes on after an event", async () => {
    for (const body of [ASKED, LIVE]) {
      const sent = key();
      const text = await (await ask(body, sent)).text();
      const [balance, calls] = [await gateway.balance(customer), gateway.simulator.bill().length];
      const again = await ask(body, sent);
      expect([await again.text(), again.headers.get("idempotent-replayed")]).toEqual([text, "true"]);
      expect(await gateway.balance(customer)).toEqual(balance);
      expect(gateway.simulator.bill()).toHaveLength(calls);
      if (body === ASKED) continue;
      const { events, ids } = readResponseStream(text);
      expect(ids).toHaveLength(events.length);
      const rest = await (await ask(body, { ...sent, "last-event-id": "2" })).text();
      expect(text.endsWith(rest)).toBe(true);
      expect(rest.startsWith("id: 3\n")).toBe(true);
    }
    const sent = key();
    expect((await ask(ASKED, sent)).status).toBe(200);
    const chat = await gateway.chat<ErrorJson>(customer, CHAT, sent);
    expect([chat.status, chat.json.error.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("a retry of a running stream follows it to its own end", async () => {
    const sent = key();
    const [one, two] = await askedTwice(gateway, customer, () => ask(LIVE, sent));
    const [text, followed] = await Promise.all([one.text(), two.text()]);
    expect(followed).toBe(text);
    readResponseStream(text);
    expect(billOf(one.headers.get("x-request-id") ?? "")).toHaveLength(1);
  });

  test("a provider that breaks off ends the stream as a response that failed, charged for what came", async () => {
    const deltas = ["one ", "two ", "three "].map((content) => ({ content }));
    gateway.simulator.behave({ behaviour: { deltas, reset_after_events: beforeWords + 2 }, calls: 1 });
    const { final, response } = await streamed(ASKED);
    expect([final.status, final.error?.code as string]).toEqual(["failed", "provider_error"]);
    const record = await gateway.request(response.headers.get("x-request-id") ?? "");
    expect([record.state, record.evidence]).toEqual(["settled", "delivered_tokens"]);
    expect(final.gateway.cost?.customer_charge_usd).toBe(Number(record.charge) / 1e9);
  });

  test("a client that leaves is charged for what it got, and nothing stays held", async () => {
    gateway.simulator.behave({ behaviour: { tokens_per_second: 10, completion_tokens: 60 }, calls: 1 });
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}` },
      body: JSON.stringify(LIVE),
      signal: leaving.signal,
    });
    const id = response.headers.get("x-request-id") ?? "";
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    leaving.abort();
    await waitFor(async () => (await gateway.balance(customer)).held === 0n, "the end of its hold");
    const { state, evidence, charge, hold } = await gateway.request(id);
    expect([state, evidence, charge > 0n && charge < hold]).toEqual(["settled", "delivered_tokens", true]);
    await reads(async () => billOf(id).map(({ outcome }) => outcome), ["cut"]);
  });
});

test("nothing is stored: a response can be neither fetched nor deleted", async () => {
  const { id } = await answered(ASKED);
  for (const method of ["GET", "DELETE"]) {
    const init = { method, headers: { authorization: `Bearer ${customer.secret}` } };
    const response = await fetch(`${gateway.url}/v1/responses/${id}`, init);
    const { error } = (await response.json()) as ErrorJson;
    expect([response.status, error.code]).toEqual([404, "response_not_found"]);
    expect(error.message).toContain(id);
  }
});

test.each([
  ["POST", "/resp_1/cancel", "response_not_found"],
  ["GET", "/resp_1/input_items", "response_not_found"],
  ["POST", "/resp_1", "response_not_found"],
  ["POST", "/compact", "unknown_url"],
])(
  "%s %s: there is no such operation, and the answer says what to do instead",
  async (method, path, code) => {
    const init = { method, headers: { authorization: `Bearer ${customer.secret}` } };
    const response = await fetch(`${gateway.url}/v1/responses${path}`, init);
    const { error } = (await response.json()) as ErrorJson;
    expect([response.status, error.code]).toEqual([404, code]);
    expect(error.message).toContain(code === "unknown_url" ? "/v1/responses" : "'resp_1'");
    expect(error.message).toContain("`input` items");
  },
);

test("its quote and its id work on the free endpoints", async () => {
  const { id, gateway: receipt } = await answered(ASKED);
  const found = await gateway.get<{ gateway: object }>(customer, `/v1/generation?id=${id}`);
  expect(found.json.gateway).toEqual(receipt);
  const response = await fetch(`${gateway.url}/v1/responses/quote`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}` },
    body: JSON.stringify(ASKED),
  });
  expect(await response.json()).toMatchObject({ object: "response.quote", admissible: true });
});
