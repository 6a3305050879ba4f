// Whatever a collector does, spans are bounded and each is counted once: as exported, or as dropped with its reason.
import { afterEach, expect, test } from "bun:test";
import { askedOfProxy } from "../../test/support/asked-of-proxy.ts";
import { Jobs } from "../lib/jobs.ts";
import { QUEUE_SPANS, SpanExporter, type SpanLoss } from "./exporter.ts";
import type { Span } from "./otlp.ts";

const span: Span = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  parentId: null,
  name: "POST /v1/chat/completions",
  kind: "server",
  startMs: 1_000,
  endMs: 999,
  attributes: { "tollgate.attempt": 1, "gen_ai.request.stream": true, share: 0.5, list: ["stop"] },
  failed: true,
};
const spans = (count: number): Span[] => Array.from({ length: count }, () => span);

interface Watched {
  exporter: SpanExporter;
  exported: number;
  dropped: Partial<Record<SpanLoss, number>>;
  turned: (string | null)[];
  leftOut: [number, string | null][];
  nowMs: number;
  asked: string[];
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Returns an exporter to a collector that answers like this; `nowMs` advances its pauses. */
function exporting(
  answer: (n: number) => Response | Promise<Response>,
  timeoutMs = 30_000,
  url: string | null = null,
): Watched {
  const watched: Omit<Watched, "exporter"> = {
    exported: 0,
    dropped: {},
    turned: [],
    leftOut: [],
    nowMs: 0,
    asked: [],
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      watched.asked.push(await request.text());
      return answer(watched.asked.length);
    },
  });
  const exporter = new SpanExporter({
    url: url ?? `http://127.0.0.1:${server.port}/v1/traces`,
    headers: {},
    timeoutMs,
    intervalMs: 10,
    source: { resource: { "service.name": "tollgate" }, version: "1" },
    clock: { monotonicMs: () => (watched.nowMs === 0 ? performance.now() : watched.nowMs) },
    jobs: new Jobs({ tell: () => {} }),
    exported: (count) => {
      watched.exported += count;
    },
    dropped: (reason, count) => {
      watched.dropped[reason] = (watched.dropped[reason] ?? 0) + count;
    },
    turned: (trouble) => watched.turned.push(trouble),
    leftOut: (count, reason) => watched.leftOut.push([count, reason]),
  });
  ends.push(async () => {
    await server.stop(true);
    await exporter.stop();
  });
  return Object.assign(watched, { exporter });
}

/** A condition holds almost at once, except on a busy machine. */
const PATIENCE_MS = 60_000;

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!holds() && performance.now() < endMs) await Bun.sleep(10);
  expect(holds()).toBe(true);
}

test("spans are sent in batches, as OTLP", async () => {
  const on = exporting(() => Response.json({}));
  on.exporter.add(spans(600));
  await until(() => on.exported === 600);
  expect(on.asked).toHaveLength(2);
  const [{ resource, scopeSpans }] = (
    JSON.parse(on.asked[0] ?? "") as {
      resourceSpans: [{ resource: unknown; scopeSpans: [{ spans: unknown[] }] }];
    }
  ).resourceSpans;
  expect(resource).toEqual({ attributes: [{ key: "service.name", value: { stringValue: "tollgate" } }] });
  expect(scopeSpans[0].spans).toHaveLength(512);
  expect(scopeSpans[0].spans[0]).toEqual({
    traceId: span.traceId,
    spanId: span.spanId,
    name: span.name,
    kind: 2,
    startTimeUnixNano: "1000000000",
    endTimeUnixNano: "1000000000", // a span does not end before it began, even if the clock was set back
    attributes: [
      { key: "tollgate.attempt", value: { intValue: "1" } },
      { key: "gen_ai.request.stream", value: { boolValue: true } },
      { key: "share", value: { doubleValue: 0.5 } },
      { key: "list", value: { arrayValue: { values: [{ stringValue: "stop" }] } } },
    ],
    status: { code: 2 },
  });
});

test("a hanging collector fills the queue and no more; spans beyond it are dropped, a request's spans together", async () => {
  const on = exporting(() => new Promise<Response>(() => {}), 60_000);
  on.exporter.add(spans(10));
  await until(() => on.asked.length === 1);
  on.exporter.add(spans(QUEUE_SPANS - 12));
  on.exporter.add(spans(5));
  expect([on.exporter.waiting, on.dropped]).toEqual([QUEUE_SPANS - 2, { queue_full: 5 }]);
  on.exporter.add(spans(2));
  expect(on.exporter.waiting).toBe(QUEUE_SPANS);
});

test("a response whose body never ends is cut by the timeout, and retried", async () => {
  const body = new ReadableStream({ start: (stream) => stream.enqueue("{") });
  const on = exporting((n) => (n === 1 ? new Response(body) : Response.json({})), 1_000);
  on.exporter.add(spans(3));
  await until(() => on.turned.length === 1);
  on.nowMs = performance.now() + 60_000;
  await until(() => on.exported === 3);
  expect([on.turned, on.dropped]).toEqual([["no answer within 1000 ms", null], {}]);
});

test.each([500, 400, 401, 302])(
  "spans refused with %d are dropped at once: they would be refused again",
  async (status) => {
    const on = exporting(() => new Response("no", { status, headers: { location: "http://127.0.0.1:1/" } }));
    on.exporter.add(spans(4));
    await until(() => on.dropped.refused === 4);
    expect([on.asked.length, on.turned]).toEqual([1, [`the collector answered ${status}`]]);
  },
);

test("spans refused for rate are sent again after a pause, five times in all, and never sooner than told", async () => {
  const on = exporting(() => new Response("", { status: 503, headers: { "retry-after": "20" } }));
  on.nowMs = 1_000_000;
  on.exporter.add(spans(4));
  for (let tries = 1; tries <= 5; tries += 1) {
    await until(() => on.asked.length === tries);
    await Bun.sleep(30);
    on.nowMs += 19_900;
    await Bun.sleep(40);
    expect(on.asked).toHaveLength(tries);
    on.nowMs += 60_000;
  }
  await until(() => on.dropped.unreachable === 4);
  expect(on.turned).toEqual(["the collector answered 503"]); // one line, however long the failure lasts
});

test("spans that the collector rejects are counted separately", async () => {
  const on = exporting((n) => Response.json({ partialSuccess: { rejectedSpans: n === 1 ? "2" : -7 } }));
  on.exporter.add(spans(5));
  await until(() => on.exported === 3);
  on.exporter.add(spans(5));
  await until(() => on.exported === 8);
  expect(on.dropped).toEqual({ rejected: 2 });
});

test("the reason for rejections is logged at once, then at most every ten minutes, with the count since", async () => {
  const on = exporting((n) =>
    Response.json({ partialSuccess: { rejectedSpans: "1", errorMessage: `too long\n(${n})` } }),
  );
  on.nowMs = 1_000_000;
  const sendOne = async (nth: number): Promise<void> => {
    on.exporter.add(spans(2));
    await until(() => on.exported === nth);
  };
  await sendOne(1);
  expect(on.leftOut).toEqual([[1, "too long (1)"]]);
  await sendOne(2);
  on.nowMs += 599_000;
  await sendOne(3);
  expect(on.leftOut).toHaveLength(1);
  on.nowMs += 1_000;
  await sendOne(4);
  expect(on.leftOut.slice(1)).toEqual([[3, "too long (4)"]]);
  expect([on.dropped, on.turned]).toEqual([{ rejected: 4 }, []]);
});

test.each([
  ["none", Response.json({ partialSuccess: { rejectedSpans: 1 } }), null],
  ["one that is no text", Response.json({ partialSuccess: { rejectedSpans: 1, errorMessage: [1] } }), null],
  ["blanks", Response.json({ partialSuccess: { rejectedSpans: 1, errorMessage: " \n" } }), null],
  [
    "a book",
    Response.json({ partial_success: { rejected_spans: 1, error_message: "é".repeat(900) } }),
    "é".repeat(300),
  ],
  ["one of protobuf", protobuf([0x0a, 5, 8, 1, 0x12, 1, 0x61]), "a"],
])("of a reason, %s is told as one line of at most 300 characters, or as none", async (_, answer, reason) => {
  const on = exporting(() => answer);
  on.exporter.add(spans(3));
  await until(() => on.leftOut.length === 1);
  expect(on.leftOut).toEqual([[1, reason]]);
});

test.each([
  ["a page", "text/html; charset=utf-8", "<!doctype html><title>Sign in</title>", "text/html"],
  ["words", "text/plain", "OK", "text/plain"],
  ["a page that calls itself JSON", "application/json", "<html></html>", "application/json"],
  ["JSON that is no message", "application/json", '["{}"]', "application/json"],
  ["a broken message", "application/x-protobuf", "\u000a\u007fx", "application/x-protobuf"],
  ["more than any answer", "application/json", `{"a":"${"x".repeat(8 * 1024 * 1024)}"}`, "application/json"],
  ["a type of any length", `text/${"x".repeat(400)}`, "x", `text/${"x".repeat(60)}`],
  ["an unheard-of type", "\u00e9", "x", "no content type"],
])("200 with %s is no collector's answer: nothing of it counts as exported", async (_, type, body, named) => {
  const on = exporting(() => new Response(body, { headers: { "content-type": type } }));
  on.exporter.add(spans(3));
  await until(() => on.dropped.refused === 3);
  expect([on.exported, on.turned]).toEqual([
    0,
    [
      `it answered 200 with ${named}, which is not an OTLP collector's answer: check the endpoint and any proxy before it`,
    ],
  ]);
});

test.each([
  ["nothing", new Response(null, { status: 204 }), 0],
  ["an empty body", new Response(""), 0],
  ["JSON under another name", new Response("{}", { headers: { "content-type": "text/plain" } }), 0],
  ["names as protobuf has them", Response.json({ partial_success: { rejected_spans: 2 } }), 2],
  ["nonsense in a message", Response.json({ partialSuccess: [{ rejectedSpans: 2 }] }), 0],
  ["an empty message of protobuf", protobuf([]), 0],
  ["protobuf with a warning", protobuf([0x0a, 3, 0x12, 1, 0x61]), 0],
  ["protobuf that left two out", protobuf([0x15, 1, 2, 3, 4, 0x0a, 5, 8, 2, 0x12, 1, 0x61]), 2],
  ["protobuf that left out more than came", protobuf([0x0a, 3, 8, 0xac, 2]), 5],
])("%s is a collector's answer, and what it left out is counted", async (_, answer, rejected) => {
  const on = exporting(() => answer);
  on.exporter.add(spans(5));
  await until(() => on.exporter.waiting === 0);
  expect([on.exported, on.dropped, on.turned]).toEqual([
    5 - rejected,
    rejected === 0 ? {} : { rejected },
    [],
  ]);
});

function protobuf(bytes: number[]): Response {
  return new Response(new Uint8Array(bytes), { headers: { "content-type": "application/x-protobuf" } });
}

test("queued spans are sent once at the end; after that none are accepted", async () => {
  const on = exporting(() => Response.json({}));
  on.exporter.add(spans(3));
  await on.exporter.stop();
  expect([on.exported, on.exporter.waiting]).toEqual([3, 0]);
  on.exporter.add(spans(2));
  expect(on.dropped).toEqual({ stopped: 2 });
});

test("a hanging collector does not delay the gateway's exit", async () => {
  const on = exporting(() => new Promise<Response>(() => {}), 60_000);
  on.exporter.add(spans(3));
  await until(() => on.asked.length === 1);
  const began = performance.now();
  await on.exporter.stop();
  expect(performance.now() - began).toBeLessThan(30_000); // the call alone would wait for a minute
  expect(on.dropped).toEqual({ stopped: 3 });
});

test("a collector elsewhere is reached through the network's proxy", async () => {
  const asked = await askedOfProxy(async () => {
    const on = exporting(() => Response.json({}), 5_000, "https://collector.test/v1/traces");
    on.exporter.add(spans(1));
    await until(() => on.turned.length > 0);
  });
  expect(asked[0]).toBe("CONNECT collector.test:443 HTTP/1.1");
});
