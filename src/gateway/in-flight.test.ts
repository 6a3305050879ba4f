// Who may wait for a running request: bounded for the request, for an organization, and in total.
import { expect, test } from "bun:test";
import { InFlight } from "./in-flight.ts";

test("one organization's waiters leave room for those of the others", () => {
  const inFlight = new InFlight();
  const place = (organizationId: string, n: number) => ({ organizationId, requestId: `req_${n}` });
  for (let n = 0; n < 100; n += 1) inFlight.begin(`req_${n}`);
  const joined = Array.from({ length: 400 }, (_, n) => inFlight.join(place("org_greedy", n % 100)));
  const waiting = joined.filter((one) => one !== null);
  expect(waiting).toHaveLength(256);
  expect(inFlight.join(place("org_other", 1))).not.toBeNull();
  waiting[0]?.leave();
  expect(inFlight.join(place("org_greedy", 1))).not.toBeNull();
  expect(inFlight.join(place("org_greedy", 1))).toBeNull();
});
