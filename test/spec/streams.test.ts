// Specification 2.2, 4 and 6, of streams: whatever options are combined, the last chunks say the same as the whole
// answer, in one order, once; their cost is what the ledger booked and the provider billed; and a replay is the same
// bytes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ChunkJson, Events, GatewayJson } from "../support/events.ts";
import { gatewayOf, reasoningOf, textOf } from "../support/events.ts";
import { type Customer, hello, STORES, startGateway, type TestGateway } from "../support/gateway.ts";

const TOOL = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const CALLING = { tools: [TOOL], tool_choice: "required", reasoning_effort: "none" };
const ASKED: [what: string, fields: object, finish: string][] = [
  ["text", {}, "stop"],
  ["text after thoughts", { reasoning_effort: "high" }, "stop"],
  ["text that is cut at the maximum", { max_tokens: 5, reasoning_effort: "none" }, "length"],
  ["a call of a tool", CALLING, "tool_calls"],
  ["three choices", { n: 3, reasoning_effort: "none" }, "stop"],
  ["log probabilities", { logprobs: true, top_logprobs: 1, reasoning_effort: "none" }, "stop"],
];

interface Whole {
  choices: {
    message: { content: string | null; reasoning_content?: string; tool_calls?: { function: object }[] };
    finish_reason: string;
  }[];
  usage: object;
  gateway: GatewayJson;
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let customer: Customer;
  beforeAll(async () => {
    gateway = await startGateway({ store });
    customer = await gateway.customer();
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  const costOf = ({ cost }: GatewayJson): object => cost;
  const isChoice = ({ choices }: ChunkJson): boolean => choices.length > 0;

  /** What holds of every stream, however it was requested. */
  function assertFramed({ chunks, raw, done }: Events, asked: { usage: boolean }): void {
    expect(done).toBe(true);
    expect(raw.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(raw).not.toContain("event:");
    const [first] = chunks;
    expect(first?.choices[0]).toMatchObject({ index: 0, delta: { role: "assistant" }, finish_reason: null });
    for (const chunk of chunks) {
      const { id, object, created, model } = chunk;
      expect({ id, object, created, model }).toEqual({
        id: first?.id as string,
        object: "chat.completion.chunk",
        created: first?.created as number,
        model: "base-preview-v1",
      });
      expect(chunk.error).toBeUndefined();
    }
    const told = chunks.filter(({ usage }) => usage !== undefined && usage !== null);
    expect(told).toHaveLength(1);
    expect(told[0]).toBe(chunks.at(-1) as ChunkJson); // the very last one before [DONE]
    expect(isChoice(chunks.at(-1) as ChunkJson)).toBe(!asked.usage);
    const complete = chunks.filter((chunk) => chunk.gateway?.cost !== undefined);
    expect(complete.length).toBe(asked.usage ? 2 : 1);
    for (const chunk of complete) expect(chunk.gateway).toEqual(gatewayOf({ chunks } as Events));
    const finish = chunks.filter(isChoice).at(-1);
    expect(finish?.choices[0]?.delta).toEqual({});
    expect(finish?.gateway?.cost).toBeDefined();
    if (asked.usage) for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBeNull();
  }

  describe.each(ASKED.map(([what, fields, finish]) => ({ what, fields, finish })))(
    "$what",
    ({ fields, finish }) => {
      const body = { ...hello("base-preview-v1"), ...fields };
      test.each([false, true])("is the whole answer in pieces, include_usage %p", async (usage) => {
        const options = usage ? { stream_options: { include_usage: true } } : {};
        const key = { "idempotency-key": crypto.randomUUID() };
        const { json: whole } = await gateway.chat<Whole>(customer, body);
        const { headers, events } = await gateway.stream(customer, { ...body, ...options }, key);
        assertFramed(events, { usage });
        expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
        expect(headers.get("x-request-id")).toBe(gatewayOf(events).request_id);
        expect(headers.get("x-gw-idempotency-key")).toBeNull();
        whole.choices.forEach(({ message, finish_reason }, index) => {
          expect(textOf(events, index)).toBe(message.content ?? "");
          const ends = events.chunks.flatMap(({ choices }) =>
            choices.filter((choice) => choice.index === index && choice.finish_reason !== null),
          );
          expect(ends.map((choice) => choice.finish_reason)).toEqual([finish]);
          expect(finish_reason).toBe(finish);
        });
        expect(reasoningOf(events)).toBe(whole.choices[0]?.message.reasoning_content ?? "");
        expect(events.chunks.at(-1)?.usage as object).toEqual(whole.usage);
        expect(costOf(gatewayOf(events))).toEqual(costOf(whole.gateway));
        for (const told of [whole.gateway, gatewayOf(events)]) {
          const record = await gateway.request(told.request_id);
          expect(record.state).toBe("settled");
          expect(String(record.charge)).toBe(String(Math.round(told.cost.customer_charge_usd * 1e9)));
          const bill = gateway.simulator.bill().filter(({ request_id }) => request_id === told.request_id);
          expect(bill.map(({ completion_tokens }) => completion_tokens)).toEqual([told.cost.output_tokens]);
        }
        const calls = gateway.simulator.bill().length;
        const again = await gateway.stream(customer, { ...body, ...options }, key);
        expect(again.text).toBe(events.raw);
        expect(again.headers.get("x-request-id")).toBe(headers.get("x-request-id"));
        expect(gateway.simulator.bill()).toHaveLength(calls);
      });
    },
  );

  test("reasoning never comes after content, and its field is missing without any", async () => {
    const thinking = await gateway.stream(customer, {
      ...hello("base-preview-v1"),
      reasoning_effort: "high",
    });
    const kinds = thinking.events.chunks.flatMap(({ choices }) =>
      choices.flatMap(({ delta }) =>
        delta.reasoning_content !== undefined ? ["r"] : (delta.content ?? "") !== "" ? ["c"] : [],
      ),
    );
    expect(kinds.join("")).toMatch(/^r+c+$/);
    const plain = await gateway.stream(customer, { ...hello("base-preview-v1"), reasoning_effort: "none" });
    expect(plain.events.raw).not.toContain("reasoning_content");
  });

  test("usage may be requested in streams only, and a stream with a refused option holds nothing", async () => {
    const before = [await gateway.balance(customer), gateway.simulator.bill().length];
    for (const fields of [
      { stream_options: { include_usage: true } },
      { stream: false, stream_options: { include_usage: true } },
      { stream: true, stream_options: { include_usage: "yes" } },
      { stream: true, stream_options: [] },
    ]) {
      const reply = await gateway.chat(customer, { ...hello(), ...fields });
      expect([JSON.stringify(fields), reply.status]).toEqual([JSON.stringify(fields), 400]);
    }
    expect([await gateway.balance(customer), gateway.simulator.bill().length]).toEqual(before);
  });

  test("a stream that its provider broke off ends with its error, its receipt and no [DONE]; the retry gets the same bytes", async () => {
    const key = { "idempotency-key": crypto.randomUUID() };
    const behaviour = { tokens_per_second: 20, completion_tokens: 200, reset_after_events: 9 };
    gateway.simulator.behave({ behaviour, calls: 1 });
    const { events } = await gateway.stream(customer, hello(), key);
    const last = events.chunks.at(-1);
    expect(events.done).toBe(false);
    expect(last?.error?.request_id).toBe(gatewayOf(events).request_id);
    expect(last?.gateway?.cost.evidence).toBe("delivered_tokens");
    expect(events.chunks.filter(({ error }) => error !== undefined)).toHaveLength(1);
    const charge = (await gateway.request(gatewayOf(events).request_id)).charge;
    const before = await gateway.balance(customer);
    const again = await gateway.stream(customer, hello(), key);
    expect(again.text).toBe(events.raw);
    expect(await gateway.balance(customer)).toEqual(before);
    expect((await gateway.request(gatewayOf(events).request_id)).charge).toBe(charge);
  });
});
