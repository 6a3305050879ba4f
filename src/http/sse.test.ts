// A relayed stream as a body of Bun's server, over a real socket.
import { afterAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { Relayed } from "../gateway/relay.ts";
import { systemClock } from "../lib/clock.ts";
import { Jobs, jobsOnStderr } from "../lib/jobs.ts";
import { EventStreams } from "./sse.ts";

const failures: unknown[] = [];
const streams = new EventStreams(systemClock, {
  failed: (error) => failures.push(error),
  jobs: jobsOnStderr(),
});
let relayed: Relayed;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request, bun) => {
    bun.timeout(request, 2);
    return new Response(streams.body(relayed, request.signal));
  },
});
afterAll(() => server.stop(true));

interface Course {
  sent: number;
  left: boolean;
  ended: boolean;
}

/** Frames of 64 KiB until somebody leaves, or for ever when nobody does. */
function flood(course: Course): Relayed {
  const frame = `data: ${"x".repeat(65_526)}\n\n`;
  return {
    frames: (async function* () {
      try {
        while (!course.left) {
          course.sent += frame.length;
          yield frame;
        }
      } finally {
        course.ended = true;
      }
    })(),
    filler: () => "",
    leave: () => {
      course.left = true;
    },
  };
}

function ask(): Socket {
  const socket = connect(server.port ?? 0, "127.0.0.1", () =>
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
  );
  socket.on("error", () => {});
  return socket;
}

test("a client that stops reading slows its source, and is cut after the idle limit", async () => {
  const course: Course = { sent: 0, left: false, ended: false };
  relayed = flood(course);
  const socket = ask();
  socket.pause();
  await Bun.sleep(500);
  const early = course.sent;
  await Bun.sleep(500);
  expect(course.sent).toBe(early);
  expect(early).toBeLessThan(16 * 1024 * 1024);
  await streams.idle();
  expect(course).toMatchObject({ left: true, ended: true });
  socket.destroy();
}, 120_000);

test("a client that leaves ends its source at once", async () => {
  const course: Course = { sent: 0, left: false, ended: false };
  relayed = flood(course);
  const socket = ask();
  await new Promise((resolve) => socket.once("data", resolve));
  const startedAtMs = performance.now();
  socket.destroy();
  await streams.idle();
  expect(performance.now() - startedAtMs).toBeLessThan(5000);
  expect(course).toMatchObject({ left: true, ended: true });
});

test("a body that nobody pulls still ends when its client is gone", async () => {
  const course: Course = { sent: 0, left: false, ended: false };
  const gone = new AbortController();
  streams.body(flood(course), gone.signal);
  gone.abort();
  await streams.idle();
  expect(course).toMatchObject({ left: true, ended: true });
  expect(failures).toEqual([]);
});

/** Streams whose time stands still until somebody moves it. */
function bySteps() {
  let nowMs = 0;
  let tick = (): void => {};
  const failures: unknown[] = [];
  class ByHand extends Jobs {
    override tick(_job: string, _everyMs: number, task: () => void): () => void {
      tick = task;
      return () => {
        tick = () => {};
      };
    }
  }
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const jobs = new ByHand({ tell: (_job, error) => failures.push(error) });
  const failed = (error: unknown): void => void failures.push(error);
  const streams = new EventStreams(clock, { failed, jobs });
  const pass = (ms: number): void => {
    nowMs += ms;
    tick();
  };
  return { streams, failures, pass };
}

/** A relay whose frames come when they are told to. */
function told() {
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const left = Promise.withResolvers<void>();
  const frames = (async function* () {
    for await (const frame of readable) yield frame;
  })();
  const relayed: Relayed = { frames, filler: () => "filler", leave: () => left.resolve() };
  return { relayed, writer, left: left.promise };
}

test("a silence is broken by comments, then by a filler, and no frame is lost or comes twice behind them", async () => {
  const { streams, failures, pass } = bySteps();
  const { relayed, writer } = told();
  const body = streams.body(relayed, new AbortController().signal)[Symbol.asyncIterator]();
  const said: (string | void)[] = [];
  let pull = body.next();
  for (const ms of [14_999, 1, 15_000, 15_000, 15_000]) {
    pass(ms);
    if (ms === 14_999) continue; // not yet
    said.push((await pull).value);
    pull = body.next();
  }
  expect(said).toEqual([": keep-alive\n\n", ": keep-alive\n\n", ": keep-alive\n\n", "filler"]);
  await writer.write("one");
  expect(await pull).toEqual({ done: false, value: "one" });
  pass(60_000); // the client has the turn: nothing is said to who does not ask
  const next = body.next();
  await writer.write("two");
  expect(await next).toEqual({ done: false, value: "two" });
  await writer.close();
  expect(await body.next()).toEqual({ done: true, value: undefined });
  await streams.idle();
  expect([streams.size, failures]).toEqual([0, []]);
});

test("a relay that fails cuts its client's connection, before the first pull as well, and is told of once", async () => {
  for (const pulled of [false, true]) {
    const { streams, failures } = bySteps();
    const { relayed, writer } = told();
    const body = streams.body(relayed, new AbortController().signal)[Symbol.asyncIterator]();
    const waiting = pulled ? body.next() : null;
    await writer.abort(new Error("broken"));
    await streams.idle();
    expect(await (waiting ?? body.next()).catch(() => "cut")).toBe("cut");
    expect(await body.next()).toEqual({ done: true, value: undefined });
    expect(failures).toHaveLength(1);
  }
});

test("a client that leaves in the middle of a silence is answered at once, and its relay is told and pulled to its end", async () => {
  const { streams, failures } = bySteps();
  const { relayed, writer, left } = told();
  const client = new AbortController();
  const body = streams.body(relayed, client.signal)[Symbol.asyncIterator]();
  const waiting = body.next();
  client.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await left;
  await writer.write("one");
  await writer.close();
  await streams.idle();
  expect([streams.size, failures]).toEqual([0, []]);
});
