// The legacy completions surface: a prompt is a chat turn, and everything behind it is that of chat completions
// (docs/decisions/0050-texts-and-vectors.md). The unmodified official SDK reads it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, PREVIEW_V1 } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [PLAIN, PREVIEW_V1] });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const ASKED = { model: "plain-1", prompt: "Say hello", max_tokens: 60 };

const post = (body: unknown, headers: Record<string, string> = {}, path = ""): Promise<Response> =>
  fetch(`${gateway.baseUrl}/completions${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${customer.secret}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(body),
  });

const client = (): OpenAI => new OpenAI({ baseURL: gateway.baseUrl, apiKey: customer.secret });

const billed = (requestId: string): [number | undefined, number | undefined] => {
  const call = gateway.simulator.bill().find(({ request_id }) => request_id === requestId);
  return [call?.prompt_tokens, call?.completion_tokens];
};

test("the SDK's answer and stream say the same, and the ledger has what the provider billed", async () => {
  const { data, response } = await client().completions.create(ASKED).withResponse();
  const [choice] = data.choices;
  expect(data.id).toBe(`cmpl-${response.headers.get("x-request-id")?.slice(4)}`);
  expect([data.object, data.model, data.choices.length]).toEqual(["text_completion", "plain-1", 1]);
  expect(Object.keys(choice ?? {}).toSorted()).toEqual(["finish_reason", "index", "logprobs", "text"]);
  expect(choice?.text).toMatch(/\w/);
  const { gateway: receipt } = data as unknown as { gateway: GatewayJson };
  const { usage, charge, state } = await gateway.request(receipt.request_id);
  expect(state).toBe("settled");
  expect(receipt.cost.customer_charge_usd).toBe(Number(charge) / 1e9);
  expect([usage?.promptTokens, usage?.completionTokens]).toEqual(billed(receipt.request_id));
  expect([data.usage?.prompt_tokens, data.usage?.completion_tokens]).toEqual(billed(receipt.request_id));

  const stream = await client().completions.create({
    ...ASKED,
    stream: true,
    stream_options: { include_usage: true },
  });
  let [text, finish, total] = ["", "", 0];
  for await (const chunk of stream) {
    expect(chunk.object).toBe("text_completion");
    text += chunk.choices[0]?.text ?? "";
    finish += chunk.choices[0]?.finish_reason ?? "";
    total += chunk.usage?.total_tokens ?? 0;
  }
  expect(text).toBe(choice?.text ?? "");
  expect([finish, total]).toEqual(["stop", data.usage?.total_tokens ?? -1]);
});

test("reasoning is beside the text, and several choices have their indexes", async () => {
  const asked = { model: "base-preview-v1", prompt: "Say hello", n: 2 };
  const { choices } = (await (await post(asked)).json()) as {
    choices: { index: number; text: string; reasoning_content?: string; finish_reason: string }[];
  };
  expect(choices.map(({ index, finish_reason: reason }) => [index, reason])).toEqual([
    [0, "stop"],
    [1, "stop"],
  ]);
  for (const { text, reasoning_content: thoughts } of choices) {
    expect(text).toMatch(/\w/);
    expect(thoughts).toMatch(/\w/);
  }
  const streamed = await (await post({ ...asked, stream: true })).text();
  const texts = ["", ""];
  const thoughts = ["", ""];
  for (const line of streamed.split("\n\n").filter((one) => one.startsWith("data: {")))
    for (const choice of (JSON.parse(line.slice(6)) as { choices: typeof choices }).choices) {
      texts[choice.index] += choice.text;
      thoughts[choice.index] += choice.reasoning_content ?? "";
    }
  expect(texts).toEqual(choices.map(({ text }) => text));
  expect(thoughts).toEqual(choices.map(({ reasoning_content: text }) => text ?? ""));
});

test("without a maximum the release's default is held, not the vendor's 16, and a quote says so", async () => {
  const { model, prompt } = ASKED;
  const quoted = (await (await post({ model, prompt }, {}, "/quote")).json()) as Record<string, unknown>;
  expect(quoted).toMatchObject({
    object: "text_completion.quote",
    output_tokens_max: PLAIN.default_output_tokens,
    output_tokens_source: "release_default",
  });
});

test("a retry gets the same bytes, streamed or not; another surface's key is another request", async () => {
  for (const stream of [false, true]) {
    const key = { "idempotency-key": crypto.randomUUID() };
    const first = await (await post({ ...ASKED, stream }, key)).text();
    const calls = gateway.simulator.bill().length;
    const again = await post({ ...ASKED, stream }, key);
    expect(await again.text()).toBe(first);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(gateway.simulator.bill()).toHaveLength(calls);
    const chat = await gateway.chat<ErrorJson>(
      customer,
      { model: "plain-1", messages: [{ role: "user", content: "x" }] },
      key,
    );
    expect(chat.json.error.code).toBe("idempotency_key_reused");
    if (!stream) continue;
    const events = first.split("\n\n");
    const rest = await post({ ...ASKED, stream }, { ...key, "last-event-id": "2" });
    expect(await rest.text()).toBe(events.slice(2).join("\n\n"));
  }
});

test("a refusal holds nothing and calls nobody; a prompt that is too long is named as the cause", async () => {
  const calls = gateway.simulator.bill().length;
  const before = await gateway.balance(customer);
  for (const [body, status, code, param] of [
    [{ ...ASKED, prompt: ["a", "b"] }, 400, "unsupported_value", "prompt"],
    [{ ...ASKED, prompt: [1, 2, 3] }, 400, "raw_token_ids_not_allowed", "prompt"],
    [{ ...ASKED, suffix: "x" }, 400, "unsupported_parameter", "suffix"],
    [{ ...ASKED, model: "nobody-1" }, 404, "model_not_found", "model"],
  ] as const) {
    const reply = await post(body);
    const { error } = (await reply.json()) as ErrorJson;
    expect([reply.status, error.code, error.param]).toEqual([status, code, param]);
  }
  expect(gateway.simulator.bill()).toHaveLength(calls);
  expect(await gateway.balance(customer)).toEqual(before);
  gateway.simulator.behave({
    behaviour: { status: 400, error_message: "Invalid 'messages[0].content': too odd" },
    calls: 1,
  });
  const reply = await post(ASKED);
  expect(((await reply.json()) as ErrorJson).error.param).toBe("prompt");
});

test("a provider that breaks off: what came is charged, and an error ends the stream", async () => {
  const deltas = ["one ", "two ", "three "].map((content) => ({ content }));
  gateway.simulator.behave({ behaviour: { deltas, reset_after_events: 3 }, calls: 1 });
  const response = await post({ ...ASKED, stream: true });
  const events = (await response.text()).split("\n\n").filter((event) => event !== "");
  const last = JSON.parse(events.at(-1)?.slice(6) ?? "") as ErrorJson;
  expect(last.error.code).toBe("provider_error");
  const { state, evidence } = await gateway.request(response.headers.get("x-request-id") ?? "");
  expect([state, evidence]).toEqual(["settled", "delivered_tokens"]);
});
