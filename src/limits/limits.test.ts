// What this process runs at once, for all callers together: nobody is shut out by a caller that came first and takes everything.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { type CallerLimitSettings, rateDefaultsOf } from "./caller-limits.ts";
import type { ConcurrencySlot } from "./concurrency.ts";
import { openLimits } from "./limits.ts";

const GREEDY = { organizationId: "org_1" };
const MODEST = { organizationId: "org_2" };

function callsOf(settings: { maxConcurrent: number; organizationSharePercent?: number }) {
  const refused: string[] = [];
  let nowMs = 0;
  const gateway = {
    organizationSharePercent: 50,
    uploadBytes: 4096,
    bodyBytes: 1024,
    answerBytes: 0,
    promptBytes: 0,
    ...settings,
  };
  const { calls } = openLimits(gateway, {
    clock: { monotonicMs: () => nowMs },
    refused: (limit) => void refused.push(limit),
  });
  const taken = (caller: typeof GREEDY): ConcurrencySlot => {
    const slot = calls.take(caller);
    if (slot instanceof Refusal) throw slot;
    return slot;
  };
  return { calls, refused, taken, later: (ms: number) => void (nowMs += ms) };
}

test("a place that was given back is free again, and that of all together is refused with 503", () => {
  const { calls, refused, taken } = callsOf({ maxConcurrent: 1 });
  const slot = taken(GREEDY);
  expect(calls.take(MODEST)).toMatchObject({ code: "overloaded", status: 503 });
  slot.done();
  slot.done();
  taken(MODEST);
  expect(calls.refusal(GREEDY)?.status).toBe(503);
  expect(refused).toEqual(["max_concurrent", "max_concurrent"]);
});

test("one organization takes everything as long as nobody waits", () => {
  const { calls, taken } = callsOf({ maxConcurrent: 4 });
  const [first] = Array.from({ length: 4 }, () => taken(GREEDY));
  expect(calls.take(GREEDY)).toMatchObject({ code: "overloaded" });
  first?.done();
  taken(GREEDY); // its own refusal does not count as another organization waiting
});

test.each([
  [1, 1],
  [5, 2],
])("of %d places half are a share of %d: whole ones, and one at the least", (maxConcurrent, share) => {
  const { calls, taken, later } = callsOf({ maxConcurrent });
  const slots = Array.from({ length: maxConcurrent }, () => taken(GREEDY));
  const statusWith = (held: number): number | undefined => {
    for (const slot of slots.splice(held)) slot.done();
    const others = Array.from({ length: maxConcurrent - held }, () => taken(MODEST));
    calls.take({ organizationId: "org_3" });
    const status = calls.refusal(GREEDY)?.status;
    for (const slot of others) slot.done();
    later(60_000);
    return status;
  };
  expect(statusWith(share)).toBe(429);
  expect(statusWith(share - 1)).toBe(503);
});

test("while another one waits, who has its share gets none of what is given back: 429, until nobody waits any more", () => {
  const { calls, refused, taken, later } = callsOf({ maxConcurrent: 4 });
  const slots = [taken(GREEDY), taken(GREEDY), taken(GREEDY), taken(GREEDY)];
  expect(calls.take(MODEST)).toMatchObject({ code: "overloaded" });
  slots[0]?.done();
  expect(calls.take(GREEDY)).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
  expect(refused).toEqual(["max_concurrent", "organization_share_percent"]);
  taken(MODEST);
  slots[1]?.done();
  expect(calls.take(GREEDY)).toMatchObject({ code: "rate_limit_exceeded" });
  slots[2]?.done();
  taken(GREEDY); // one of two
  later(5000);
  taken(GREEDY);
});

test("the settings of keys and organizations are the defaults of what is limited on all gateways together", () => {
  const settings: CallerLimitSettings = {
    keyRequestsPerMinute: 1,
    keyTokensPerMinute: 2,
    keyConcurrent: 3,
    organizationRequestsPerMinute: 4,
    organizationTokensPerMinute: 5,
    organizationConcurrent: null,
  };
  expect(rateDefaultsOf(settings)).toEqual({
    key: { requestsPerMinute: 1, tokensPerMinute: 2, concurrent: 3 },
    organization: { requestsPerMinute: 4, tokensPerMinute: 5, concurrent: null },
  });
});
