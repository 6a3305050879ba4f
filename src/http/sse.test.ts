// A relayed stream as a body of Bun's server, over a real socket.
import { afterAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { Relayed } from "../gateway/relay.ts";
import { systemClock } from "../lib/clock.ts";
import { jobsOnStderr } from "../lib/jobs.ts";
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
