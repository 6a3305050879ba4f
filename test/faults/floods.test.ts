// Providers that never end (money.md §12, fault 52): whatever they repeat, the call fails or ends within its limits,
// the memory of the gateway stays limited, and nothing stays held.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { countTokens } from "../../src/pricing/tokens.ts";
import {
  delta,
  event,
  STREAM_HEAD,
  startUpstream,
  type Upstream,
} from "../../src/providers/openai/openai.fixtures.ts";
import { textOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

const FLOOD_BYTES = 400 * 1024 * 1024;
/** More than a gateway takes for its largest answer, much less than was sent. */
const GROWTH_BYTES_MAX = 300 * 1024 * 1024;
const TOTAL_MS = 2_000;
/** Enough for a flood to be refused for its content, not for its duration. */
const PATIENT_MS = 60_000;

const said = event(delta({ content: "Hello" }));
const finish = event(delta({}, "stop"));
const usage = event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } });

/** What follows the finish of an answer, endlessly, and how long a client waits for its end. */
const DRIPS: { title: string; head: string; unit: string; graceMs: number }[] = [
  {
    title: "comments after finish and usage",
    head: said + finish + usage,
    unit: ": keep-alive\n\n",
    graceMs: 1_000,
  },
  { title: "usage again and again after the finish", head: said + finish, unit: usage, graceMs: 1_000 },
  { title: "comments after the finish alone", head: said + finish, unit: ": keep-alive\n\n", graceMs: 5_000 },
  {
    title: "empty deltas after a finish in the last text's chunk",
    head: event(delta({ content: "Hello" }, "stop")) + usage,
    unit: event({ choices: [] }),
    graceMs: 1_000,
  },
];

/** Sends `unit` every 50 ms until the gateway hangs up. */
function drip(socket: Socket, head: string, unit: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(unit), 50);
  socket.once("close", () => clearInterval(timer));
}

/** Text with a finish on every chunk, the last of it late. */
function trail(socket: Socket): void {
  const texts = ["Hel", "lo", "!"].map((content) => event(delta({ content }, "stop")));
  socket.write(STREAM_HEAD + texts[0]);
  setTimeout(() => socket.write(texts[1] ?? ""), 300);
  setTimeout(() => socket.end(`${texts[2]}${usage}data: [DONE]\n\n`), 3_000);
}

/** Each on a provider of its own, so that they can run concurrently: model → its answer. */
const SLOW = Object.fromEntries<(socket: Socket) => void>([
  ...DRIPS.map(
    ({ head, unit }, nth) =>
      [`drip-${nth}`, (socket: Socket) => drip(socket, STREAM_HEAD + head, unit)] as const,
  ),
  ["trail", trail],
]);

let upstream: Upstream;
const slow: Upstream[] = [];
let answer: (socket: Socket) => void;
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  upstream = await startUpstream(({ socket }) => answer(socket));
  const providers: Record<string, string> = { endless: upstream.url, patient: upstream.url };
  for (const [name, says] of Object.entries(SLOW)) {
    const one = await startUpstream(({ socket }) => says(socket));
    slow.push(one);
    providers[name] = one.url;
  }
  gateway = await startGateway({
    providers,
    models: [
      { ...PLAIN, model: "endless-1", provider: "endless" },
      { ...PLAIN, model: "patient-1", provider: "patient" },
      ...Object.keys(SLOW).map((name) => ({ ...PLAIN, model: name, provider: name })),
    ],
    configure: (config) => {
      for (const provider of config.providers) {
        const most = provider.name === "endless" ? TOTAL_MS : PATIENT_MS;
        provider.timeouts = { connectMs: 20_000, firstTokenMs: most, idleMs: most, totalMs: most };
        provider.health = { ...provider.health, openAfterFailures: 1000 };
      }
    },
  });
  customer = await gateway.customer({ usd: "100" });
  await countTokens(["loaded before memory is measured"], "o200k_base", {
    organizationId: "org",
    lane: "settlement",
  });
});
beforeEach(() => Bun.gc(true));
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  for (const one of [upstream, ...slow]) await one[Symbol.asyncDispose]();
});

/** Writes `head`, then `unit` again and again as fast as it is accepted, up to `FLOOD_BYTES`. */
function flood(socket: Socket, head: string, unit: string): void {
  const block = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)));
  let sent = 0;
  socket.write(head);
  const go = (): void => {
    while (!socket.destroyed && sent < FLOOD_BYTES) {
      sent += block.byteLength;
      if (socket.write(block)) continue;
      socket.once("drain", go);
      return;
    }
  };
  go();
}

/** The call's outcome, and by how many bytes the process grew while it ran. */
async function measured<T>(call: () => Promise<T>): Promise<{ outcome: T; grownBytes: number }> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const outcome = await call();
  clearInterval(timer);
  return { outcome, grownBytes: peak - before };
}

const FLOODS: [string, string, string][] = [
  ["data lines without a blank one", STREAM_HEAD, "data:\n"],
  ["data lines with CR alone", STREAM_HEAD, "data:\r"],
  ["data lines of text", STREAM_HEAD, 'data: {"choices":[]\n'],
  ["one line", `${STREAM_HEAD}data: `, "x"],
  ["comments", STREAM_HEAD, ": keep-alive\n"],
  ["comments with blank lines", STREAM_HEAD, ": keep-alive\n\n"],
  ["names of events", STREAM_HEAD, "event: message\n"],
  ["ids", STREAM_HEAD, "id: 1\n"],
  ["events that say nothing", STREAM_HEAD, event({ choices: [] })],
  [
    "a tool call that never gets a name",
    STREAM_HEAD,
    event(delta({ tool_calls: [{ index: 0, function: { arguments: "x".repeat(1000) } }] })),
  ],
  [
    "a call without a name, and another, and another",
    STREAM_HEAD,
    event(delta({ tool_calls: [{ id: "", function: { arguments: "" } }] })),
  ],
  ["header fields", "HTTP/1.1 200 OK\r\n", `x-a: ${"b".repeat(1000)}\r\n`],
  ["one header field", "HTTP/1.1 200 OK\r\nx-a: ", "b"],
  ["interim replies", "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"],
  ["permissions to continue", "", "HTTP/1.1 100 Continue\r\n\r\n"],
  ["a status line", "HTTP/1.1 200 ", "O"],
  ["an extension of a chunk", `${STREAM_HEAD.trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n5;`, "x"],
  ["trailers", `${STREAM_HEAD.trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n`, "x-a: b\r\n"],
];

for (const stream of [true, false]) {
  const kind = stream ? "streamed" : "whole";
  test.each(FLOODS)(
    `${kind}: %s without end cost no memory and nothing else`,
    async (_, head, unit) => {
      answer = (socket) => flood(socket, head, unit);
      const before = await gateway.balance(customer);
      const { outcome, grownBytes } = await measured(() =>
        gateway.chat(customer, { ...hello("endless-1"), stream }),
      );
      expect([502, 504]).toContain(outcome.status);
      expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
      expect(await gateway.balance(customer)).toEqual(before);
    },
    PATIENT_MS,
  );
}

test.each([" ", "\n", '{"choices":['])(
  "a whole body of %j without end is cut",
  async (unit) => {
    answer = (socket) => flood(socket, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n", unit);
    const { outcome, grownBytes } = await measured(() => gateway.chat(customer, hello("patient-1")));
    expect(outcome.status).toBe(502);
    expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
  },
  2 * PATIENT_MS,
);

/** Made on first use, because it takes a while. */
function bomb(compress: (text: Buffer) => Buffer): () => Buffer {
  let made: Buffer | null = null;
  return () => (made ??= compress(Buffer.alloc(FLOOD_BYTES, "data:\n")));
}
const BOMBS: [string, () => Buffer][] = [
  ["gzip", bomb(gzipSync)],
  ["br", bomb((text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }))],
  ["zstd", bomb(zstdCompressSync)],
];

for (const [coding, compressed] of BOMBS)
  test.each([true, false])(
    `400 MB in a little ${coding}, streamed %p, do not become 400 MB`,
    async (stream) => {
      const bytes = compressed();
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.byteLength}\r\n\r\n`;
      answer = (socket) => {
        socket.write(Buffer.concat([Buffer.from(head), bytes]));
      };
      // The second on an existing connection, so that its head and its body arrive together.
      for (let call = 0; call < 2; call += 1) {
        const { outcome, grownBytes } = await measured(() =>
          gateway.chat(customer, { ...hello("patient-1"), stream }),
        );
        expect(outcome.status).toBe(502);
        expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
      }
    },
    2 * PATIENT_MS,
  );

test.each(BOMBS)(
  "a refusal that %s makes large is read up to the limit for refusals",
  async (coding, compressed) => {
    const bytes = compressed();
    const head = `HTTP/1.1 400 Bad Request\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.byteLength}\r\n\r\n`;
    answer = (socket) => {
      socket.write(Buffer.concat([Buffer.from(head), bytes]));
    };
    for (let call = 0; call < 3; call += 1) {
      const { outcome, grownBytes } = await measured(() => gateway.chat(customer, hello("patient-1")));
      expect(outcome.status).toBe(502);
      expect(grownBytes).toBeLessThan(100 * 1024 * 1024);
    }
  },
  2 * PATIENT_MS,
);

test("an endless event after delivered text breaks the stream, charged for the text", async () => {
  answer = (socket) => flood(socket, STREAM_HEAD + said, "data:\n");
  const { outcome, grownBytes } = await measured(() => gateway.stream(customer, hello("patient-1")));
  expect(outcome.text).toContain('"content":"Hello"');
  expect(outcome.events.chunks.at(-1)?.error?.code).toBe("provider_error");
  expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
});

test("a flood of comments after the finish ends the answer well", async () => {
  answer = (socket) => flood(socket, STREAM_HEAD + said + finish + usage, ": keep-alive\n");
  const { outcome, grownBytes } = await measured(() => gateway.stream(customer, hello("patient-1")));
  expect(outcome.events.done).toBe(true);
  expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
});

test.concurrent.each(DRIPS.map((one, nth) => ({ ...one, model: `drip-${nth}` })))(
  "$title: the client has its end soon",
  async ({ model, graceMs }) => {
    const began = performance.now();
    const { events } = await gateway.stream(customer, hello(model));
    const tookMs = performance.now() - began;
    expect(events.done).toBe(true);
    expect(textOf(events)).toBe("Hello");
    expect(tookMs).toBeGreaterThan(graceMs * 0.9);
    expect(tookMs).toBeLessThan(PATIENT_MS / 2);
  },
  120_000,
);

test.concurrent("text after a finish on every chunk is waited for like any text", async () => {
  const { events } = await gateway.stream(customer, hello("trail"));
  expect(textOf(events)).toBe("Hello!");
});
