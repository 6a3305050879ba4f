// Generated answers of any shape: whatever JSON a provider puts where, the caller gets 200 or a refusal that says so,
// never a 500; nothing stays held, and the gateway keeps serving.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  httpReply,
  STREAM_HEAD,
  startUpstream,
  type Upstream,
} from "../../src/providers/openai/openai.fixtures.ts";
import { countTokens } from "../../src/pricing/tokens.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1 } from "../support/models.ts";
import { createLog } from "../../src/lib/log.ts";

let answer = "";
let upstream: Upstream;
let gateway: TestGateway;
let customer: Customer;
const logged: string[] = [];
beforeAll(async () => {
  upstream = await startUpstream(({ socket }) => socket.end(answer));
  gateway = await startGateway({
    providers: { odd: upstream.url },
    models: [{ ...PREVIEW_V1, model: "odd-1", provider: "odd" }],
    log: createLog("error", { write: (line: string) => void logged.push(line) }),
    configure: (config) => {
      for (const provider of config.providers)
        provider.health = { ...provider.health, openAfterFailures: 1_000_000, halfOpenAfterMs: 0 };
    },
  });
  customer = await gateway.customer({ usd: "1000" });
  await countTokens(["loaded before the first answer"], "o200k_base", {
    organizationId: "org",
    lane: "settlement",
  });
});
afterAll(async () => {
  // A refused account is the provider's word, for an operator to handle; anything else would be an exception of ours.
  expect(logged.filter((line) => !line.includes("its routes are closed"))).toEqual([]);
  await gateway.assertSound();
  await gateway.stop();
  await upstream[Symbol.asyncDispose]();
});

const ask = (options: { stream: boolean; n?: number; logprobs?: boolean }): object => ({
  model: "odd-1",
  messages: [{ role: "user", content: "Say hello" }],
  max_tokens: 200,
  ...options,
});

interface Whole {
  choices: { message: { content: unknown; tool_calls?: { function: { arguments: unknown } }[] } }[];
}

/** Checks what must hold of every answer to `reply`, whatever it is. */
async function holdsFor(reply: string, options: Parameters<typeof ask>[0]): Promise<void> {
  answer = reply;
  const { status, text, headers } = await gateway.chat(customer, ask(options));
  expect([200, 400, 502, 503, 504]).toContain(status);
  const { held, available } = await gateway.balance(customer);
  expect(held === 0n).toBe(true);
  expect(available > 0n).toBe(true);
  if (headers.get("content-type")?.startsWith("text/event-stream") === true) readsAsStream(text);
  else if (status === 200) readsAsAnswer(JSON.parse(text) as Whole);
  else expect(JSON.parse(text)).toHaveProperty("error.code");
}

function readsAsAnswer({ choices }: Whole): void {
  expect(choices.length).toBeGreaterThan(0);
  for (const { message } of choices) {
    expect(["string", "object"]).toContain(typeof message.content);
    for (const call of message.tool_calls ?? []) expect(typeof call.function.arguments).toBe("string");
  }
}

function readsAsStream(text: string): void {
  for (const frame of text.split("\n\n").filter((each) => each !== "")) {
    expect(frame).toMatch(/^(data: |: )/);
    if (!frame.startsWith("data: ") || frame === "data: [DONE]") continue;
    const value = JSON.parse(frame.slice("data: ".length)) as { choices?: unknown; error?: unknown };
    expect(Array.isArray(value.choices) || value.error !== undefined).toBe(true);
  }
}

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { a: value };
  return value;
};

/** Valid but unexpected JSON values. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 0.5, 2 ** 31, 2 ** 40, 2 ** 53, 1e308, -1e308),
  fc.constantFrom("", "\0", "\ud83d", "\udc00x", "stop", "error", "length", "constructor", "__proto__"),
  fc.constantFrom("[DONE]", "\u2028\u0085", "data: x\n\n"),
  fc.constantFrom<unknown>([], {}, [[]], [null], { index: 0 }, { length: 3 }),
  fc.constantFrom(60, 200, 300).map(nested),
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Usually what belongs there, otherwise anything, otherwise nothing. */
const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: usual, weight: 6 }, { arbitrary: odd, weight: 1 });
const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.record(fields, { requiredKeys: [] });

const index = mostly(fc.constantFrom<unknown>(0, 0, 0, 1, 2));
const text = mostly(fc.string({ maxLength: 20 }));
const call = some({
  index: mostly(fc.nat(5)),
  id: text,
  type: mostly(fc.constant("function")),
  function: mostly(some({ name: text, arguments: mostly(fc.constantFrom("{}", '{"a":', "1}")) })),
  extra_content: odd,
});
const said = mostly(
  some({
    role: mostly(fc.constant("assistant")),
    content: mostly(
      fc.oneof(fc.string({ maxLength: 20 }), fc.array(some({ type: text, text, thinking: odd }))),
    ),
    reasoning_content: text,
    reasoning: text,
    reasoning_details: mostly(fc.array(some({ text, summary: text }))),
    refusal: text,
    annotations: mostly(fc.array(some({ type: text, url_citation: odd }))),
    tool_calls: mostly(fc.array(mostly(call), { maxLength: 4 })),
    function_call: odd,
  }),
);
const usage = mostly(
  some({
    prompt_tokens: mostly(fc.nat(1000)),
    completion_tokens: mostly(fc.nat(1000)),
    total_tokens: mostly(fc.nat(2000)),
    prompt_tokens_details: odd,
    completion_tokens_details: odd,
  }),
);
const choice = mostly(
  some({
    index,
    message: said,
    delta: said,
    finish_reason: mostly(fc.constantFrom("stop", "length", "tool_calls", null)),
    logprobs: mostly(some({ content: mostly(fc.array(odd)), refusal: odd })),
    usage,
  }),
);
const body = some({
  id: text,
  object: text,
  created: odd,
  model: odd,
  choices: mostly(fc.array(choice, { maxLength: 4 })),
  usage,
  x_groq: odd,
});
const sane = { choices: [{ index: 0, message: { content: "Hello" }, finish_reason: "stop" }] };
const answered = fc
  .tuple(body, fc.boolean())
  .map(([value, repaired]) => (repaired ? { ...sane, ...(value as object) } : value));
const request = fc.record({ n: fc.constantFrom(1, 1, 2), logprobs: fc.boolean() });
const RUNS = { numRuns: 250, interruptAfterTimeLimit: 60_000 };

test("whole answers of any shape", async () => {
  await fc.assert(
    fc.asyncProperty(answered, request, async (value, options) => {
      await holdsFor(httpReply(200, JSON.stringify(value)), { ...options, stream: false });
    }),
    RUNS,
  );
}, 120_000);

const event = fc.oneof(
  { arbitrary: body.map((value) => JSON.stringify(value)), weight: 12 },
  { arbitrary: odd.map((value) => JSON.stringify(value)), weight: 1 },
  { arbitrary: fc.constantFrom("[DONE]", "", "{", "null", '{"error":{"code":429}}'), weight: 1 },
);
const framed = fc
  .tuple(fc.array(event, { maxLength: 8 }), fc.constantFrom("\n", "\r\n", "\r"), fc.boolean())
  .map(([events, end, finishes]) => {
    const finish =
      '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}';
    const all = finishes ? [...events, finish, "[DONE]"] : events;
    return all.map((data) => `data: ${data}${end}${end}`).join("");
  });

test("streams of chunks of any shape", async () => {
  await fc.assert(
    fc.asyncProperty(framed, request, async (stream, options) => {
      await holdsFor(STREAM_HEAD + stream, { ...options, stream: true });
    }),
    RUNS,
  );
}, 120_000);

test("refusals of any shape, with any status and type", async () => {
  const status = fc.constantFrom(
    ...[100, 199, 201, 202, 204, 205, 206, 226, 300, 301, 302, 304, 307, 308, 400, 401].concat([
      402, 403, 404, 405, 408, 409, 413, 418, 422, 424, 429, 451, 499, 500, 501, 502, 503, 504, 520, 529, 599,
      600, 999,
    ]),
  );
  const type = fc.constantFrom(
    "application/json",
    "text/html",
    "text/event-stream",
    "text/plain",
    "image/png",
    "",
    "x",
  );
  const error = mostly(
    some({ message: text, code: odd, type: odd, param: odd, status: odd, innererror: odd }),
  );
  const content = fc
    .oneof(some({ error, message: text, code: odd }), odd)
    .map((value) => JSON.stringify(value));
  await fc.assert(
    fc.asyncProperty(status, type, content, fc.boolean(), async (code, contentType, written, stream) => {
      const empty = code < 200 || code === 204 || code === 205 || code === 304;
      const reply = httpReply(code, empty ? "" : written, {
        "content-type": contentType,
        ...(code >= 300 && code < 400 && { location: "http://127.0.0.1:9/" }),
      });
      await holdsFor(reply, { stream });
    }),
    RUNS,
  );
}, 120_000);

const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const IN_EVERY_FIELD = [
  (value: string) =>
    `{"choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"},"logprobs":{"content":[${value}]},"finish_reason":"stop"}]}`,
  (value: string) =>
    `{"choices":[{"index":0,"message":{"content":"a","annotations":[${value}]},"delta":{"content":"a","annotations":[${value}]},"finish_reason":"stop"}]}`,
  (value: string) =>
    `{"choices":[{"index":0,"message":{"tool_calls":[{"function":{"name":"f","arguments":${value}}}]},"delta":{"tool_calls":[{"function":{"name":"f","arguments":${value}}}]},"finish_reason":"stop"}]}`,
  (value: string) =>
    `{"choices":[{"index":0,"message":{"tool_calls":[{"function":{"name":"f"},"extra_content":{"odd":${value}}}]},"delta":{"tool_calls":[{"function":{"name":"f"},"extra_content":{"odd":${value}}}]},"finish_reason":"stop"}]}`,
  (value: string) =>
    `{"usage":${value},"choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"},"finish_reason":"stop"}]}`,
  (value: string) => `{"choices":[${value}]}`,
  (value: string) =>
    `{"nobody":${value},"choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"},"finish_reason":"stop"}]}`,
  (value: string) => value,
];

test.each([200_000, 5_000, 300])(
  "%d nested lists in any field are a broken answer, not a bug",
  async (depth) => {
    for (const put of IN_EVERY_FIELD) {
      const value = put(deep(depth));
      for (const logprobs of [true, false]) {
        await holdsFor(httpReply(200, value), { stream: false, logprobs });
        await holdsFor(`${STREAM_HEAD}data: ${value}\n\ndata: [DONE]\n\n`, { stream: true, logprobs });
        await holdsFor(httpReply(400, `{"error":${value}}`), { stream: false, logprobs });
      }
    }
  },
);
