// Conversations with Gemini behind a whole gateway, on a simulator as strict as the vendor: tools with thinking, and
// routes that change in between; the bill equals the ledger each time.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Behaviour } from "../../src/providers/simulator/behaviour.ts";
import type { ErrorJson } from "../support/events.ts";
import {
  billed,
  type CallJson,
  expectAgreement,
  FLASH,
  type House,
  type MessageJson,
  startHouse,
  TOOLS,
  turn,
} from "./gemini-house.ts";

let house: House;
beforeAll(async () => {
  house = await startHouse();
});
afterEach(() => house.gateway.simulator.behaveWell());
afterAll(async () => {
  await house.gateway.assertSound();
  await house.gateway.stop();
});

interface Story {
  model: string;
  /** Before each turn. */
  before?: (nth: number) => Behaviour | null;
  /** What a client keeps of an answer. */
  kept?: (message: MessageJson) => MessageJson;
  stream: (nth: number) => boolean;
}

/** Twenty rounds: two concurrent tool calls, then the text after their results. */
async function converse({ model, before, kept = (message) => message, stream }: Story): Promise<string[]> {
  const messages: unknown[] = [{ role: "system", content: "Be brief." }];
  const providers: string[] = [];
  let nth = 0;
  const next = async (tool_choice: unknown): Promise<MessageJson> => {
    const ordered = before?.(nth) ?? null;
    if (ordered !== null) house.gateway.simulator.behave({ behaviour: ordered, model: FLASH, calls: 1 });
    const body = { model, messages, tools: TOOLS, tool_choice, reasoning_effort: "high" };
    const { message, receipt } = await turn(house, body, stream(nth));
    nth += 1;
    await expectAgreement(house, receipt, ordered === null ? 0 : 1);
    providers.push(receipt.provider ?? "");
    messages.push(kept(message));
    return message;
  };
  const answered = (calls: readonly CallJson[]): void => {
    for (const {
      id,
      function: { name },
    } of calls.toReversed())
      messages.push({ role: "tool", tool_call_id: id, content: `{"${name}":1.50}` });
  };
  for (let round = 1; round <= 20; round += 1) {
    messages.push({ role: "user", content: `Use get_weather and get_time, round ${round}` });
    const { tool_calls: calls = [] } = await next("auto");
    expect(calls.map((call) => call.function)).toEqual([
      { name: "get_weather", arguments: '{"city":"text"}' },
      { name: "get_time", arguments: '{"city":"text"}' },
    ]);
    answered(calls);
    const words = await next("auto");
    expect([words.content !== null, words.tool_calls]).toEqual([true, undefined]);
  }
  return providers;
}

test.each([
  ["whole", false],
  ["streamed", true],
] as const)(
  "twenty turns with thinking and parallel tools, %s: nothing is refused, and each turn costs what it is billed",
  async (_, streamed) => {
    const providers = await converse({ model: "flash", stream: () => streamed });
    expect(new Set(providers)).toEqual(new Set(["gemini"]));
  },
  120_000,
);

test("a signature is sent once, on the first call, under Google's own name; thoughts are reasoning", async () => {
  for (const stream of [false, true]) {
    const { message } = await turn(
      house,
      {
        model: "flash",
        messages: [{ role: "user", content: "Use get_weather and get_time" }],
        tools: TOOLS,
        reasoning_effort: "high",
      },
      stream,
    );
    expect(message.reasoning_content).toMatch(/\w+/);
    expect(
      message.tool_calls?.map(({ extra_content: extra }) => extra?.google?.thought_signature ?? null),
    ).toEqual([expect.stringMatching(/^[\w+/]{43}=[\w+/=]+$/), null]);
  }
});

test("log probabilities belong to exactly the text, in a body and in a stream, separately for each choice", async () => {
  interface Token {
    token: string;
    logprob: number;
    bytes: number[];
    top_logprobs: Token[];
  }
  interface Choice {
    index: number;
    message: { content: string };
    delta: { content?: string };
    logprobs: { content: Token[] } | null;
  }
  const asked = {
    model: "flash",
    messages: [{ role: "user", content: "Say hello" }],
    reasoning_effort: "high",
    n: 2,
    logprobs: true,
    top_logprobs: 2,
  };
  const { json } = await house.gateway.chat<{ choices: Choice[] }>(house.customer, asked);
  expect(json.choices).toHaveLength(2);
  const { events } = await house.gateway.stream(house.customer, asked);
  const deltas = events.chunks.flatMap(({ choices }) => choices as unknown as Choice[]);
  for (const { index, message, logprobs } of json.choices) {
    const told = logprobs?.content ?? [];
    expect(told.map(({ token }) => token).join("")).toBe(message.content);
    for (const { token, logprob, bytes, top_logprobs: top } of told) {
      expect([Buffer.from(bytes).toString(), logprob < 0]).toEqual([token, true]);
      expect([top.length, top[0]?.token]).toEqual([2, token]);
    }
    const streamed = deltas.filter((delta) => delta.index === index);
    expect(streamed.flatMap((delta) => delta.logprobs?.content ?? [])).toEqual(told);
    for (const { delta, logprobs: beside } of streamed)
      expect((beside?.content ?? []).map(({ token }) => token).join("")).toBe(delta.content ?? "");
  }
  const { status, json: refused } = await house.gateway.chat<ErrorJson>(house.customer, {
    ...asked,
    model: "untold",
  });
  expect([status, refused.error.code, refused.error.param]).toEqual([
    400,
    "unsupported_parameter",
    "logprobs",
  ]);
});

test("twenty turns while routes change between Gemini and the chat-completions shape", async () => {
  // Every third call finds Gemini unavailable.
  const providers = await converse({
    model: "both",
    before: (nth) => (nth % 3 === 1 ? { status: 503 } : null),
    stream: (nth) => nth % 2 === 0,
  });
  expect(new Set(providers)).toEqual(new Set(["gemini", "simulator"]));
}, 120_000);

test("twenty turns while routes change between two models of Gemini, each with signatures of its own", async () => {
  const providers = await converse({
    model: "two",
    before: (nth) => (nth % 3 === 1 ? { status: 503 } : null),
    stream: (nth) => nth % 2 === 1,
  });
  expect(new Set(providers)).toEqual(new Set(["gemini", "gemini-b"]));
}, 120_000);

test("twenty turns of a client that keeps no signatures", async () => {
  await converse({
    model: "flash",
    kept: ({ tool_calls: calls, ...message }) => ({
      ...message,
      ...(calls && {
        tool_calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
      }),
    }),
    stream: (nth) => nth % 2 === 0,
  });
}, 120_000);

test("twenty turns of a model that requires no signatures and thinks by a budget", async () => {
  await converse({ model: "old", stream: (nth) => nth % 2 === 0 });
}, 120_000);

test("a made-up signature is the caller's mistake, costs nothing, and opens no circuit", async () => {
  const call = {
    id: "c1",
    type: "function",
    function: { name: "get_time", arguments: "{}" },
    extra_content: { google: { thought_signature: "bWFkZSB1cA==" } },
  };
  const forged = {
    model: "flash",
    messages: [
      { role: "user", content: "Go." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "1" },
    ],
    tools: TOOLS,
  };
  for (let n = 0; n < 6; n += 1) {
    const { status, json } = await house.gateway.chat<ErrorJson>(house.customer, forged);
    expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_request", "messages"]);
    expect(billed(house, json.error.request_id)).toMatchObject([{ outcome: "refused", billed: false }]);
    expect(await house.gateway.request(json.error.request_id)).toMatchObject({ state: "released" });
  }
  const { status } = await house.gateway.chat(house.customer, {
    ...forged,
    messages: forged.messages.slice(0, 1),
  });
  expect(status).toBe(200);
});
