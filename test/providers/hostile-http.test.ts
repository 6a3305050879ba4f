// What a provider of any shape, or a proxy in front of it, may do to an answer on its way: frame it oddly, compress it, cut it, send it
// elsewhere or never stop. Each becomes the correct answer or a clear error; nothing is charged that was not delivered, nothing stays
// held, and the gateway's memory stays bounded (money.md §12; odd-http.test.ts has more of them in one shape).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { startUpstream, type Upstream } from "../../src/providers/openai/openai.fixtures.ts";
import { message } from "../../src/providers/simulator/bedrock/frame.ts";
import { type Scripted, startScripted } from "./scripted.ts";
import { helloIn, SHAPES, type Shape, VOICES, wholeOf } from "./voices.ts";

interface Reply {
  bytes: Buffer;
  /** The connection ends after the bytes. */
  closes?: boolean;
}
let reply: Reply = { bytes: Buffer.alloc(0) };
let upstream: Upstream;
let house: Scripted;
/** Where redirects point. */
let elsewhere: ReturnType<typeof Bun.serve>;
let visits = 0;

beforeAll(async () => {
  upstream = await startUpstream(({ socket }) => {
    socket.write(reply.bytes);
    if (reply.closes === true) socket.end();
  });
  elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      visits += 1;
      return new Response("{}");
    },
  });
  house = await startScripted({ host: new URL(upstream.url).origin, silenceMs: 10_000 });
});
afterAll(async () => {
  await house.stop();
  await elsewhere.stop(true);
  await upstream[Symbol.asyncDispose]();
});

const typeOf = (shape: Shape, stream: boolean): string =>
  !stream
    ? "application/json"
    : shape === "bedrock"
      ? "application/vnd.amazon.eventstream"
      : "text/event-stream";
const answerOf = (shape: Shape, stream: boolean): Buffer => {
  const usage = VOICES[shape].usage(20, 30);
  return Buffer.from(stream ? (helloIn(shape, usage) as string) : wholeOf(shape, usage));
};
const headed = (status: string, headers: Record<string, string>, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("")}\r\n`,
    ),
    body,
  ]);
const chunkOf = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

async function asks(shape: Shape, stream: boolean, sent: Reply) {
  reply = sent;
  const { path, ask } = VOICES[shape];
  const told = await house.post(path, ask(stream));
  expect((await house.gateway.balance(house.one)).held).toBe(0n as never);
  return told;
}

/** The next call on whatever connection is left gets its own answer. */
async function goesOn(shape: Shape): Promise<void> {
  const body = answerOf(shape, false);
  const bytes = headed(
    "200 OK",
    { "content-type": "application/json", "content-length": `${body.byteLength}` },
    body,
  );
  const { status, text } = await asks(shape, false, { bytes });
  expect([status, text.includes("Hello there")]).toEqual([200, true]);
}

const rows = SHAPES.flatMap((shape) => [true, false].map((stream) => [shape, stream] as const));

type Wraps = (type: string, body: Buffer) => Reply;
const GOOD: Record<string, Wraps> = {
  "chunks with trailers": (type, body) => ({
    bytes: headed(
      "200 OK",
      { "content-type": type, "transfer-encoding": "chunked", trailer: "x-usage" },
      Buffer.concat([
        chunkOf(body.subarray(0, 7)),
        chunkOf(body.subarray(7)),
        Buffer.from('0\r\nx-usage: {"prompt_tokens":1}\r\ncontent-length: 1\r\n\r\n'),
      ]),
    ),
  }),
  "gzip though it was told not to": (type, body) => {
    const packed = gzipSync(body);
    return {
      bytes: headed(
        "200 OK",
        { "content-type": type, "content-encoding": "gzip", "content-length": `${packed.byteLength}` },
        packed,
      ),
    };
  },
  "a hundred headers, and an interim reply": (type, body) => ({
    bytes: Buffer.concat([
      Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"),
      headed(
        "200 OK",
        {
          ...Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, "v".repeat(60)])),
          "content-type": type,
          "content-length": `${body.byteLength}`,
        },
        body,
      ),
    ]),
  }),
  "no length and an end": (type, body) => ({
    bytes: headed("200 OK", { "content-type": type, connection: "close" }, body),
    closes: true,
  }),
};

describe.each(Object.keys(GOOD))("%s", (name) => {
  test.each(rows)("%s, streamed %p: the answer and its usage", async (shape, stream) => {
    const sent = GOOD[name]?.(typeOf(shape, stream), answerOf(shape, stream)) ?? reply;
    const { status, text, record } = await asks(shape, stream, sent);
    expect([status, text.includes("Hello there"), text.includes('"error":{')]).toEqual([200, true, false]);
    expect(record).toMatchObject({
      state: "settled",
      evidence: "provider_usage",
      usage: { promptTokens: 20, completionTokens: 30 },
    });
    await goesOn(shape);
  });
});

const BAD: Record<string, Wraps> = {
  "a length below the body's": (type, body) => ({
    bytes: headed("200 OK", { "content-type": type, "content-length": "9" }, body),
  }),
  "a length above the body's, and an end inside it": (type, body) => ({
    bytes: headed(
      "200 OK",
      { "content-type": type, "content-length": `${2 * body.byteLength}` },
      body.subarray(0, 9),
    ),
    closes: true,
  }),
  "gzip that breaks off": (type, body) => {
    const packed = gzipSync(body);
    return {
      bytes: headed(
        "200 OK",
        { "content-type": type, "content-encoding": "gzip", "content-length": `${packed.byteLength}` },
        packed.subarray(0, 12),
      ),
      closes: true,
    };
  },
  "text called gzip": (type, body) => ({
    bytes: headed("200 OK", { "content-type": type, "content-encoding": "gzip" }, body),
    closes: true,
  }),
  "a redirect": (_type, body) => ({
    bytes: headed(
      "307 Temporary Redirect",
      { location: `http://127.0.0.1:${elsewhere.port}/v1`, "content-length": `${body.byteLength}` },
      body,
    ),
  }),
  "a redirect by a refresh": (_type, body) => ({
    bytes: headed(
      "303 See Other",
      { location: "/elsewhere", refresh: "0", "content-length": `${body.byteLength}` },
      body,
    ),
  }),
  "8 MB of headers": (type, body) => ({
    bytes: headed(
      "200 OK",
      {
        ...Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`x-${n}`, "v".repeat(8000)])),
        "content-type": type,
      },
      body,
    ),
    closes: true,
  }),
};

describe.each(Object.keys(BAD))("%s", (name) => {
  test.each(rows)("%s, streamed %p: a clear error and no charge", async (shape, stream) => {
    const sent = BAD[name]?.(typeOf(shape, stream), answerOf(shape, stream)) ?? reply;
    const { status, text, record } = await asks(shape, stream, sent);
    expect([502, 504]).toContain(status);
    expect(text).toMatch(/provider_(error|timeout)/);
    expect([record.state, record.charge]).toEqual(["released", 0n as never]);
    expect(visits).toBe(0);
    await goesOn(shape);
  });
});

const BOMB_BYTES = 256 * 1024 * 1024;
/** More than the gateway takes for its largest answer, much less than the bomb. */
const GROWTH_BYTES_MAX = 200 * 1024 * 1024;
/** An event that says nothing, such as vendors send to keep a connection open. */
const SILENT: Record<Shape, Buffer> = {
  openai: Buffer.from(": keep-alive\n\n"),
  responses: Buffer.from(": keep-alive\n\n"),
  claude: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'),
  gemini: Buffer.from(": keep-alive\n\n"),
  bedrock: message(
    { ":event-type": "ping", ":content-type": "application/json", ":message-type": "event" },
    "{}",
  ),
};

const bombs = new Map<string, Buffer<ArrayBuffer>>();
/** Made once for each unit, because it takes a while. */
function bombOf(unit: Buffer): Buffer<ArrayBuffer> {
  const key = unit.toString("hex");
  const made = bombs.get(key) ?? gzipSync(Buffer.alloc(BOMB_BYTES, unit), { level: 1 });
  bombs.set(key, made);
  return made;
}

test.each(rows)(
  "%s, streamed %p: 256 MB in a little gzip are not inflated",
  async (shape, stream) => {
    const packed = bombOf(stream ? SILENT[shape] : Buffer.from("{ "));
    const headers = {
      "content-type": typeOf(shape, stream),
      "content-encoding": "gzip",
      "content-length": `${packed.byteLength}`,
    };
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 10);
    const { status, record } = await asks(shape, stream, { bytes: headed("200 OK", headers, packed) });
    clearInterval(watch);
    expect([status, record.state, record.charge]).toEqual([502, "released", 0n as never]);
    expect(most - before).toBeLessThan(GROWTH_BYTES_MAX);
    await goesOn(shape);
  },
  120_000,
);
