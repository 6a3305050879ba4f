// One conversation of the playground on each surface that it supports: requested and read in that surface's format,
// it is the same conversation, tools and reasoning included; and the shown code calls that surface.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ChatBody, Chunk, Message } from "../../dashboard/api/chat.ts";
import { WORDS } from "../../dashboard/api/surface-words.ts";
import { CallPlaces } from "../../dashboard/api/words.ts";
import { printCode } from "../../dashboard/pages/playground/code.ts";
import { SPOKEN_SURFACES, type SpokenSurface } from "../../src/domain/surfaces.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1 } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [PREVIEW_V1] });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(() => gateway.stop());

const CALL = {
  id: "call_1",
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Bern"}' },
} as const;
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const PROMPT: Message[] = [
  { role: "system", content: "Be brief" },
  { role: "user", content: "Please get_weather for me" },
];
const ASKED: ChatBody = {
  model: PREVIEW_V1.model,
  messages: PROMPT,
  max_tokens: 300,
  reasoning_effort: "high",
  tools: [WEATHER],
  stream: false,
};
const QUESTIONS: Record<string, ChatBody> = {
  words: { ...ASKED, messages: [{ role: "user", content: "Say hello" }] },
  "a call": ASKED,
  "after its result": {
    ...ASKED,
    messages: [
      ...PROMPT,
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: CALL.id, content: "sunny" },
    ],
  },
  "an answer that was cut": { ...ASKED, messages: [{ role: "user", content: "Say hello" }], max_tokens: 34 },
};

interface Heard {
  content: string;
  reasoning: string;
  calls: { name: string; arguments: unknown }[];
  finish: string | null;
  usage: (number | undefined)[] | null;
  charge: number | undefined;
}

/** As the page assembles it. */
function heardIn(chunks: readonly Chunk[]): Heard {
  const heard: Heard = {
    content: "",
    reasoning: "",
    calls: [],
    finish: null,
    usage: null,
    charge: undefined,
  };
  const calls: { name: string; text: string }[] = [];
  for (const { choices = [], usage, gateway: receipt } of chunks) {
    if (usage)
      heard.usage = [
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.completion_tokens_details?.reasoning_tokens,
      ];
    heard.charge = receipt?.cost?.customer_charge_usd ?? heard.charge;
    for (const { delta, message, finish_reason: reason } of choices) {
      heard.finish = reason ?? heard.finish;
      const said = delta ?? message;
      heard.content += said?.content ?? "";
      heard.reasoning += said?.reasoning_content ?? "";
      for (const { index = calls.length, id, function: part } of said?.tool_calls ?? []) {
        calls[index] ??= { name: "", text: "" };
        if (id !== undefined) expect(id).not.toBe("");
        calls[index].name += part?.name ?? "";
        calls[index].text += part?.arguments ?? "";
      }
    }
  }
  heard.calls = calls.map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
  return heard;
}

async function answered(surface: SpokenSurface, request: ChatBody): Promise<Heard> {
  const { body, whole } = WORDS[surface];
  const extra =
    surface === "chat.completions" && request.stream ? { stream_options: { include_usage: true } } : {};
  const response = await fetch(`${gateway.url}${FORMATS.find((one) => one.surface === surface)?.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body(request), ...extra }),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  if (!request.stream) return heardIn([whole(JSON.parse(text))]);
  return heardIn(chunksIn(surface, text));
}

function chunksIn(surface: SpokenSurface, stream: string): Chunk[] {
  const calls = new CallPlaces();
  const { event } = WORDS[surface];
  return [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json = ""]) => event(JSON.parse(json), calls));
}

describe.each(SPOKEN_SURFACES)("%s", (surface) => {
  for (const [name, request] of Object.entries(QUESTIONS))
    for (const stream of [false, true])
      test(`${name}, streamed: ${stream}`, async () => {
        const mine = await answered(surface, { ...request, stream });
        const chat = await answered("chat.completions", { ...request, stream: false });
        // A call ends a response like any other item.
        const finish = surface === "responses" && chat.finish === "tool_calls" ? "stop" : chat.finish;
        // The simulator's text depends on its prompt as written, which is different here after a call.
        const own = surface === "responses" && name === "after its result";
        if (own) expect([mine.usage?.[0], mine.finish, mine.calls]).toEqual([chat.usage?.[0], finish, []]);
        else expect(mine).toEqual({ ...chat, finish });
        expect(mine.content + mine.reasoning + String(mine.calls[0]?.name ?? "")).not.toBe("");
        expect(mine.charge).toBeGreaterThan(0);
      });

  test("an error after the status", async () => {
    gateway.simulator.behave({ behaviour: { error_after_events: 12 }, calls: 1 });
    const format = FORMATS.find((one) => one.surface === surface);
    const response = await fetch(`${gateway.url}${format?.path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
      body: JSON.stringify(WORDS[surface].body({ ...ASKED, stream: true })),
    });
    const chunks = chunksIn(surface, await response.text());
    expect(chunks.find(({ error }) => error !== undefined)?.error?.code).toBe("provider_error");
    expect(chunks.findLast((chunk) => chunk.gateway !== undefined)?.gateway?.cost).toBeDefined();
  });

  test("the code calls it", () => {
    const code = printCode({ baseUrl: "https://gate.example/v1", surface }, { ...ASKED, stream: true });
    expect(code["curl"]).toStartWith(
      `curl https://gate.example${FORMATS.find((one) => one.surface === surface)?.path} `,
    );
    for (const way of ["Python", "TypeScript"]) {
      expect(code[way]).toContain(
        surface === "messages" ? '"https://gate.example"' : '"https://gate.example/v1"',
      );
      expect(code[way]).toContain(`client.${surface}.create(`);
      expect(code[way]).not.toContain("undefined");
    }
  });
});

test.each([
  ["", {}],
  [" ", {}],
  ['{"ci', { arguments: '{"ci' }],
  ["[1]", { arguments: "[1]" }],
  ["null", { arguments: "null" }],
])("a call with arguments %p can be answered on Messages, whose arguments are objects", (text, input) => {
  const call = { ...CALL, function: { ...CALL.function, arguments: text } };
  const request = { ...ASKED, messages: [{ role: "assistant", content: null, tool_calls: [call] }] } as const;
  expect(WORDS.messages.body(request)).toMatchObject({
    messages: [{ role: "assistant", content: [{ type: "tool_use", id: CALL.id, input }] }],
  });
});
