// The waiters of a running request with the same key.
import { expect, test } from "bun:test";
import { systemClock } from "../lib/clock.ts";
import { attach } from "./attach.ts";
import { InFlight } from "./in-flight.ts";

test("a client that has left before it began to wait gives its place back at once", async () => {
  const inFlight = new InFlight();
  inFlight.begin("req_1");
  const leaving = new AbortController();
  leaving.abort();
  const ports = { inFlight, remoteInFlight: null, attachWaitMs: 600_000, clock: systemClock };
  const wait = {
    incoming: { signal: leaving.signal, lastEventId: null },
    stream: false,
    untilMs: systemClock.monotonicMs() + 600_000,
  } as unknown as Parameters<typeof attach>[2];
  const attached = await attach(ports, { organizationId: "org_a", requestId: "req_1" }, wait);
  expect(attached.kind).toBe("late");
});
