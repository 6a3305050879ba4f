// Following a stream of another gateway ends with the last client that reads it. A gateway that stops waits for all of its streams,
// those without a client included. Found by torture, seed 2: SIGTERM after such a client had left hung.
import { expect, test } from "bun:test";
import { systemClock } from "../lib/clock.ts";
import { jobsOnStderr } from "../lib/jobs.ts";
import { attach } from "./attach.ts";
import { chatCompletions } from "./formats/chat-completions/chat-completions.ts";
import { RemoteInFlight } from "./remote-in-flight.ts";
import { InFlight } from "./in-flight.ts";

test("a follower whose client has left ends, though the stream that it followed goes on", async () => {
  const inFlight = new InFlight();
  const chunks = [Buffer.from("id: 1\ndata: {}\n\n")];
  const remoteInFlight = new RemoteInFlight({
    inFlight,
    jobs: jobsOnStderr(),
    look: async (_, from) => ({ state: "running", chunks: chunks.slice(from), answer: null }),
  });
  const place = { organizationId: "org_1", requestId: "req_1" };
  const ports = { inFlight, remoteInFlight, attachWaitMs: 5_000, clock: systemClock };
  const incoming = { signal: new AbortController().signal, lastEventId: null, format: chatCompletions };
  const idempotency = { value: "some-key-1", callerSupplied: true };
  const untilMs = systemClock.monotonicMs() + 5_000;
  const attached = await attach(ports, place, { incoming, idempotency, stream: true, untilMs });
  if (attached.kind !== "follow") throw new Error(attached.kind);
  const { relayed } = attached;
  expect((await relayed.frames.next()).value).toContain("id: 1");
  const next = relayed.frames.next();
  relayed.leave();
  expect((await next).done).toBe(true);
}, 120_000);
