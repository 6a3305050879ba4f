// Replies that a provider, or a proxy before it, frames or phrases oddly: each becomes a correct answer or a clear
// 502, nothing stays held, nothing is charged without an answer, and the next call on the same connection gets its
// own.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import {
  DONE,
  delta,
  event,
  httpReply,
  STREAM_HEAD,
  startUpstream,
  type Upstream,
} from "../../src/providers/openai/openai.fixtures.ts";
import { countTokens } from "../../src/pricing/tokens.ts";
import { type ErrorJson, type GatewayJson, readEvents, textOf } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1 } from "../support/models.ts";

let reply: Reply = { bytes: "" };
let upstream: Upstream;
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  upstream = await startUpstream(({ socket }) => {
    socket.write(reply.bytes);
    if (reply.closes === true) socket.end();
  });
  gateway = await startGateway({
    providers: { odd: upstream.url },
    models: [{ ...PREVIEW_V1, model: "odd-1", provider: "odd" }],
    configure: (config) => {
      for (const provider of config.providers) {
        provider.timeouts = { connectMs: 2_000, firstTokenMs: 3_000, idleMs: 3_000, totalMs: 3_000 };
        provider.health = { ...provider.health, openAfterFailures: 1_000_000, halfOpenAfterMs: 0 };
      }
    },
  });
  customer = await gateway.customer({ usd: "1000" });
  await countTokens(["loaded before the short timeouts count"], "o200k_base", {
    organizationId: "org",
    lane: "settlement",
  });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream[Symbol.asyncDispose]();
});

interface Reply {
  bytes: string | Buffer;
  /** The connection ends after the bytes; otherwise it stays open. */
  closes?: boolean;
}
interface Call {
  id: string;
  function: { name: string; arguments: string };
}
interface Answered {
  choices: {
    index: number;
    message: { content: string | null; tool_calls?: Call[] };
    finish_reason: string;
  }[];
  gateway: GatewayJson;
}

const choice = { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" };
const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const json = (change: object = {}): string =>
  JSON.stringify({ id: "up-1", choices: [choice], usage, ...change });
const sized = (body: string, length: number): string =>
  httpReply(200, body, { "content-type": "application/json", "content-length": String(length) });
const headed = (headers: string, body: string): string => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
const chunked = (...pieces: string[]): string =>
  pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join("");
const withChoice = (change: object): string => httpReply(200, json({ choices: [{ ...choice, ...change }] }));
const size = Buffer.byteLength(json());

const CODINGS = {
  gzip: gzipSync,
  "X-GZIP": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
type Coding = keyof typeof CODINGS;
const coded = (coding: string, bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(headed(`content-encoding: ${coding}\r\ncontent-length: ${bytes.byteLength}`, "")),
    bytes,
  ]);
const compressed = (body: string): [string, Reply][] =>
  (Object.keys(CODINGS) as Coding[]).map((coding) => [
    `${coding} though it was told not to`,
    { bytes: coded(coding, CODINGS[coding](body)) },
  ]);

const ask = (stream: boolean): object => ({
  model: "odd-1",
  messages: [{ role: "user", content: "Say hello" }],
  max_tokens: 200,
  stream,
});

async function goesOn(): Promise<void> {
  expect((await gateway.balance(customer)).held === 0n).toBe(true);
  const bytes = httpReply(200, json({ choices: [{ ...choice, message: { content: "its own answer" } }] }));
  reply = { bytes };
  const next = await gateway.chat<Answered>(customer, ask(false));
  expect([next.status, next.json.choices[0]?.message.content]).toEqual([200, "its own answer"]);
}

async function fails(odd: Reply, stream: boolean): Promise<void> {
  const before = await gateway.balance(customer);
  reply = odd;
  const { status, json: said, headers } = await gateway.chat<ErrorJson>(customer, ask(stream));
  expect([
    [502, "provider_error"],
    [504, "provider_timeout"],
  ]).toContainEqual([status, said.error.code]);
  expect(headers.get("x-should-retry")).toBe("false"); // it may have run
  expect(await gateway.balance(customer)).toEqual(before);
  await goesOn();
}

const ANSWERS: [string, Reply][] = [
  ["a BOM before the body", { bytes: httpReply(200, `\ufeff${json()}`) }],
  [
    "a BOM and no length",
    { bytes: headed("content-type: application/json", `\ufeff${json()}`), closes: true },
  ],
  ["blanks around the body", { bytes: httpReply(200, `\r\n  ${json()}\n\n`) }],
  [
    "a key twice: the last one counts",
    { bytes: httpReply(200, `{"choices":[],"usage":{"prompt_tokens":1e300},${json().slice(1)}`) },
  ],
  ["100 before the reply", { bytes: `HTTP/1.1 100 Continue\r\n\r\n${httpReply(200, json())}` }],
  [
    "103 before the reply",
    { bytes: `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${httpReply(200, json())}` },
  ],
  ["JSON called text/plain", { bytes: httpReply(200, json(), { "content-type": "text/plain" }) }],
  ["JSON called text/html", { bytes: httpReply(200, json(), { "content-type": "text/html" }) }],
  ["JSON called an event stream", { bytes: httpReply(200, json(), { "content-type": "text/event-stream" }) }],
  ["JSON without a type", { bytes: httpReply(200, json(), {}) }],
  [
    "JSON in another charset",
    { bytes: httpReply(200, json(), { "content-type": "application/json; charset=latin1" }) },
  ],
  [
    "a chunked body with a length",
    {
      bytes: headed("content-length: 7\r\ntransfer-encoding: chunked", `${chunked(json())}0\r\n\r\n`),
      closes: true,
    },
  ],
  ["an unknown finish reason", { bytes: withChoice({ finish_reason: "because" }) }],
  ["a finish reason that is a number", { bytes: withChoice({ finish_reason: 7 }) }],
  ["no index", { bytes: withChoice({ index: null }) }],
  ...compressed(json()),
  ["a coding that nobody knows, and none in its bytes", { bytes: coded("rot13", Buffer.from(json())) }],
  ["a choice too many", { bytes: httpReply(200, json({ choices: [choice, { ...choice, index: 1 }] })) }],
];

test.each(ANSWERS)("%s is an answer", async (_, odd) => {
  reply = odd;
  const { status, json: said } = await gateway.chat<Answered>(customer, ask(false));
  expect(status).toBe(200);
  expect(said.choices).toMatchObject([{ index: 0, message: { content: "Hello" }, finish_reason: "stop" }]);
  expect(said.gateway.cost).toMatchObject({ input_tokens: 9, output_tokens: 5, evidence: "provider_usage" });
  await goesOn();
});

const NO_ANSWERS: [string, Reply][] = [
  ["a length below the body's", { bytes: sized(json(), size - 10) }],
  [
    "a length below the body's, with a reply behind it",
    { bytes: sized(`${json().slice(0, 20)}${httpReply(200, json())}`, 20) },
  ],
  ["a length above the body's, and an end", { bytes: sized(json(), size + 10), closes: true }],
  ["a length above the body's, and silence", { bytes: sized(json(), size + 10) }],
  ["a length of 0", { bytes: sized(json(), 0) }],
  ["a length below 0", { bytes: sized("{}", -1), closes: true }],
  ["two lengths", { bytes: headed(`content-length: 2\r\ncontent-length: ${size}`, json()), closes: true }],
  ["a length that is none", { bytes: headed("content-length: many", "{}"), closes: true }],
  [
    "chunks that break off",
    { bytes: headed("transfer-encoding: chunked", chunked(json().slice(0, 30))), closes: true },
  ],
  [
    "a chunk size that is none",
    { bytes: headed("transfer-encoding: chunked", `xyz\r\n${json()}`), closes: true },
  ],
  [
    "plain text called gzip",
    { bytes: headed(`content-encoding: gzip\r\ncontent-length: ${size}`, json()), closes: true },
  ],
  ["gzip that breaks off", { bytes: coded("gzip", gzipSync(json()).subarray(0, -12)) }],
  ["brotli that breaks off", { bytes: coded("br", brotliCompressSync(json()).subarray(0, -5)) }],
  ["gzip in gzip", { bytes: coded("gzip, gzip", gzipSync(gzipSync(json()))) }],
  ["two documents", { bytes: httpReply(200, json() + json()) }],
  ["two documents on two lines", { bytes: httpReply(200, `${json()}\n${json()}`) }],
  ["an empty body", { bytes: httpReply(200, "") }],
  ["a lone BOM", { bytes: httpReply(200, "\ufeff") }],
  ["a list", { bytes: httpReply(200, `[${json()}]`) }],
  ["201", { bytes: httpReply(201, json()) }],
  ["202", { bytes: httpReply(202, json()) }],
  ["204", { bytes: "HTTP/1.1 204 No Content\r\n\r\n" }],
  ["204 with a body", { bytes: httpReply(204, json()), closes: true }],
  ["205", { bytes: httpReply(205, "") }],
  ["206", { bytes: httpReply(206, json()) }],
  ["304", { bytes: 'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n' }],
  [
    "101",
    {
      bytes: "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
      closes: true,
    },
  ],
  ["100 and an end", { bytes: "HTTP/1.1 100 Continue\r\n\r\n", closes: true }],
  ["100 and silence", { bytes: "HTTP/1.1 100 Continue\r\n\r\n" }],
  ["a status line that is none", { bytes: `HTTQ/9 200\r\n\r\n${json()}`, closes: true }],
  ["choices that are an object", { bytes: httpReply(200, json({ choices: { "0": choice } })) }],
  ["choices that are a text", { bytes: httpReply(200, json({ choices: "Hello" })) }],
  ["no choices", { bytes: httpReply(200, json({ choices: [] })) }],
  ["a negative index", { bytes: withChoice({ index: -1 }) }],
  ["an index of 2^40", { bytes: withChoice({ index: 2 ** 40 }) }],
  ["an index that is a text", { bytes: withChoice({ index: "0" }) }],
];

test.each(NO_ANSWERS)("%s is a broken provider: nothing is held or charged", async (_, odd) => {
  await fails(odd, false);
});

const finish = event(delta({}, "stop"));
const told = event({ id: "up-1", choices: [], usage });
const hello = event(delta({ content: "Hello" }));
const at = (index: unknown, fields: object, end: string | null = null): string =>
  event({ id: "up-1", choices: [{ index, delta: fields, finish_reason: end }] });
const stream = (...events: string[]): Reply & { bytes: string } => ({
  bytes: STREAM_HEAD + events.join(""),
  closes: true,
});
const typed = (type: string): Reply => ({ bytes: headed(type, hello + finish + told + DONE), closes: true });

const STREAMS: [string, Reply][] = [
  ["a BOM before the first event", stream("\ufeff", hello, finish, told, DONE)],
  [
    "a key twice",
    stream(
      `data: {"choices":[],${JSON.stringify(delta({ content: "Hello" })).slice(1)}\n\n`,
      finish,
      told,
      DONE,
    ),
  ],
  [
    "100 before the reply",
    { bytes: `HTTP/1.1 100 Continue\r\n\r\n${stream(hello, finish, told, DONE).bytes}`, closes: true },
  ],
  ["events called text/plain", typed("content-type: text/plain")],
  ["events without a type", typed("x-nothing: 1")],
  ["an unknown finish reason", stream(hello, event(delta({}, "because")), told, DONE)],
  [
    "choices of strange indexes beside",
    stream(
      at(-1, { content: "x" }),
      at(2 ** 40, { content: "x" }),
      at("0", { content: "x" }),
      hello,
      at(2 ** 40, {}, "stop"),
      finish,
      told,
      DONE,
    ),
  ],
  ...compressed(hello + finish + told + DONE),
  [
    "choices that are an object beside",
    stream(event({ choices: { "0": { delta: { content: "x" } } } }), hello, finish, told, DONE),
  ],
];

test.each(STREAMS)("streamed: %s is an answer", async (_, odd) => {
  reply = odd;
  const { text, status } = await gateway.chat(customer, ask(true));
  expect(status).toBe(200);
  const events = readEvents(text);
  expect([textOf(events), events.done]).toEqual(["Hello", true]);
  const last = events.chunks.at(-1);
  expect(last?.choices).toMatchObject([{ index: 0, finish_reason: "stop" }]);
  expect(last?.gateway?.cost).toMatchObject({
    input_tokens: 9,
    output_tokens: 5,
    evidence: "provider_usage",
  });
  await goesOn();
});

const NO_STREAMS: [string, Reply][] = [
  ["a whole body", { bytes: httpReply(200, json()) }],
  [
    "a whole body called an event stream",
    { bytes: httpReply(200, json(), { "content-type": "text/event-stream" }) },
  ],
  [
    "a length below the first event",
    { bytes: httpReply(200, hello, { "content-type": "text/event-stream", "content-length": "20" }) },
  ],
  ["two documents in one event", stream(`data: ${json()}${json()}\n\n`, finish, DONE)],
  ["204", { bytes: "HTTP/1.1 204 No Content\r\n\r\n" }],
  ["304", { bytes: "HTTP/1.1 304 Not Modified\r\n\r\n" }],
  ["only a choice of a negative index", stream(at(-1, { content: "x" }, "stop"), DONE)],
  ["only a choice of index 2^40", stream(at(2 ** 40, { content: "x" }, "stop"), DONE)],
  ["choices that are an object", stream(event({ choices: { "0": delta({ content: "x" }, "stop") } }), DONE)],
  ["usage and nothing else", stream(told, DONE)],
];

test.each(NO_STREAMS)("streamed: %s is a broken provider: nothing is held or charged", async (_, odd) => {
  await fails(odd, true);
});

test("gaps, jumps and signs in the indexes of tool calls are normalized", async () => {
  const call = (index: number, name: string, args: string): object => ({
    index,
    id: `call-${name}`,
    type: "function",
    function: { name, arguments: args },
  });
  const calls = [call(7, "a", "{1"), call(2 ** 40, "b", "{2}"), call(-3, "c", "{3}")];
  const more = { tool_calls: [{ index: 7, function: { arguments: "}" } }] };
  reply = stream(
    ...calls.map((one) => event(delta({ tool_calls: [one] }))),
    event(delta(more, "tool_calls")),
    DONE,
  );
  const { text } = await gateway.chat(customer, ask(true));
  const fragments = readEvents(text).chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  const args = ["", "", ""];
  for (const { index, function: called } of fragments) args[index] += called.arguments;
  expect(fragments.flatMap(({ index, id }) => (id === undefined ? [] : [[index, id]]))).toEqual([
    [0, "call-a"],
    [1, "call-b"],
    [2, "call-c"],
  ]);
  expect(args).toEqual(["{1}", "{2}", "{3}"]);
  reply = {
    bytes: withChoice({ message: { content: null, tool_calls: calls }, finish_reason: "tool_calls" }),
  };
  const { json: said } = await gateway.chat<Answered>(customer, ask(false));
  expect(said.choices[0]?.message.tool_calls?.map(({ id }) => id)).toEqual(["call-a", "call-b", "call-c"]);
  await goesOn();
});
