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

/** Frames of 64 KiB until the client leaves, or for ever if it does not. */
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
  const most = 16 * 1024 * 1024;
  let early = -1;
  while (course.sent === 0 || (course.sent !== early && course.sent < most)) {
    early = course.sent;
    await Bun.sleep(500);
  }
  expect(course.sent).toBeLessThan(most);
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
  expect(performance.now() - startedAtMs).toBeLessThan(30_000);
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

/** Streams on a clock that only the test advances. */
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

/** A relay whose frames come when the test says so; `ended` once it was pulled to its end. */
function told() {
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const left = Promise.withResolvers<void>();
  const course = { pulls: 0, ended: false };
  const source = (async function* () {
    for await (const frame of readable) yield frame;
    course.ended = true;
  })();
  const next = (): Promise<IteratorResult<string, void>> => {
    course.pulls += 1;
    return source.next();
  };
  const frames = { next } as Relayed["frames"];
  const relayed: Relayed = { frames, filler: () => "filler", leave: () => left.resolve() };
  return { relayed, writer, course, left: left.promise };
}

const COMMENT = ": keep-alive\n\n";

test("a silence is broken by comments, after a minute by a filler, and counts anew from each frame", async () => {
  const { streams, failures, pass } = bySteps();
  const { relayed, writer } = told();
  const body = streams.body(relayed, new AbortController().signal)[Symbol.asyncIterator]();
  const said: (string | void)[] = [];
  for (const ms of [15_000, 15_000, 15_000, 15_000, 15_000]) {
    const pull = body.next();
    pass(ms - 1);
    await Bun.sleep(0);
    expect(Bun.peek.status(pull)).toBe("pending");
    pass(1);
    said.push((await pull).value);
  }
  expect(said).toEqual([COMMENT, COMMENT, COMMENT, "filler", COMMENT]);
  let pull = body.next();
  pass(14_000);
  await writer.write("one");
  expect(await pull).toEqual({ done: false, value: "one" });
  pull = body.next();
  pass(14_999);
  await Bun.sleep(0);
  expect(Bun.peek.status(pull)).toBe("pending");
  await writer.close();
  expect(await pull).toEqual({ done: true, value: undefined });
  await streams.idle();
  expect([streams.size, failures]).toEqual([0, []]);
});

test("behind a comment no frame is lost, comes twice, or is asked for before the client is there", async () => {
  const { streams, pass } = bySteps();
  const { relayed, writer, course } = told();
  const body = streams.body(relayed, new AbortController().signal)[Symbol.asyncIterator]();
  const pull = body.next();
  pass(15_000);
  expect((await pull).value).toBe(COMMENT);
  const late = body.next(); // in place of the comment: awaits the pending frame, not a second one
  pass(15_000);
  expect((await late).value).toBe(COMMENT);
  expect(course.pulls).toBe(1);
  await writer.write("one"); // before it is pulled
  await Bun.sleep(0);
  pass(60_000); // nothing is sent to a client that does not pull
  expect(await body.next()).toEqual({ done: false, value: "one" });
  expect(course.pulls).toBe(1);
  const next = body.next();
  await writer.write("two");
  expect(await next).toEqual({ done: false, value: "two" });
  await writer.close();
  expect(await body.next()).toEqual({ done: true, value: undefined });
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
  const { relayed, writer, course, left } = told();
  const client = new AbortController();
  const body = streams.body(relayed, client.signal)[Symbol.asyncIterator]();
  const waiting = body.next();
  client.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await left;
  for (const frame of ["one", "two"]) await writer.write(frame);
  await writer.close();
  await streams.idle();
  expect(course.ended).toBe(true);
  expect([streams.size, failures]).toEqual([0, []]);
});
