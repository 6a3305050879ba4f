// The limits of callers: each row refuses at its setting, for whom it counts, and says so; nothing is counted of what is
// refused.
import { describe, expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { camelCase } from "../lib/camel-case.ts";
import { CALLER_LIMITS, type CallerLimit, type CallerLimitSettings } from "./caller-limits.ts";
import { type CallLimits, openLimits } from "./limits.ts";
import { Rate } from "./rate.ts";

const CALLER = { keyId: "key_1", organizationId: "org_1" };
const SISTER = { keyId: "key_2", organizationId: "org_1" };
const STRANGER = { keyId: "key_3", organizationId: "org_2" };
const NAMES = Object.keys(CALLER_LIMITS) as (keyof typeof CALLER_LIMITS)[];
const OFF = Object.fromEntries(NAMES.map((name) => [camelCase(name), null])) as CallerLimitSettings;
const clock = { monotonicMs: () => 0 };

function limitsWith(settings: object): { calls: CallLimits; refused: string[] } {
  const refused: string[] = [];
  const gateway = { maxConcurrent: 100, uploadBytes: 4096, bodyBytes: 1024 };
  const { calls } = openLimits(
    { ...gateway, ...OFF, ...settings },
    { clock, refused: (limit) => void refused.push(limit) },
  );
  return { calls, refused };
}

/** One call on its way in, which does not end. */
function call(calls: CallLimits, caller: typeof CALLER): Refusal | null {
  const { refusal } = calls.arrive(caller);
  if (refusal !== null) return refusal;
  const slot = calls.enter(caller);
  return slot instanceof Refusal ? slot : null;
}

describe.each(NAMES)("%s", (name) => {
  test("refuses beyond its setting, says whose it is, and is told by its name", () => {
    const { calls, refused } = limitsWith({ [camelCase(name)]: 1 });
    expect(call(calls, CALLER)).toBeNull();
    const refusal = call(calls, CALLER);
    expect(refusal).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
    expect(refusal?.message).toStartWith(CALLER_LIMITS[name].whose);
    expect(refused).toEqual([name]);
  });

  test("counts together whose it is, and nobody else", () => {
    const { calls } = limitsWith({ [camelCase(name)]: 1 });
    expect(call(calls, CALLER)).toBeNull();
    const together = CALLER_LIMITS[name].of(CALLER) === CALLER_LIMITS[name].of(SISTER);
    expect(call(calls, SISTER) !== null).toBe(together);
    expect(call(calls, STRANGER)).toBeNull();
  });

  test("is off with null", () => {
    const { calls, refused } = limitsWith({});
    for (let n = 0; n < 10; n += 1) expect(call(calls, CALLER)).toBeNull();
    expect(refused).toEqual([]);
  });
});

test("a place that was given back is free again, and that of all together is refused with 503", () => {
  const { calls, refused } = limitsWith({ maxConcurrent: 1 });
  const slot = calls.enter(CALLER);
  expect(calls.enter(STRANGER)).toMatchObject({ code: "overloaded", status: 503 });
  if (slot instanceof Refusal) throw slot;
  slot.done();
  expect(calls.enter(STRANGER)).not.toBeInstanceOf(Refusal);
  expect(refused).toEqual(["max_concurrent"]);
});

describe("several limits of a minute", () => {
  const perKey: CallerLimit = { name: "key", most: 2, of: ({ keyId }) => keyId, whose: "This key" };
  const perOrganization: CallerLimit = {
    name: "organization",
    most: 3,
    of: ({ organizationId }) => organizationId,
    whose: "This organization",
  };
  const rate = (): Rate => new Rate([perKey, perOrganization], { clock, refused: () => {} });
  const left = ({ headers }: ReturnType<Rate["take"]>): string | undefined =>
    headers["x-ratelimit-remaining-requests"];

  test("the one that has the least left is told", () => {
    const counted = rate();
    expect(left(counted.take(CALLER))).toBe("1");
    expect(left(counted.take(SISTER))).toBe("1");
    expect(left(counted.take(SISTER))).toBe("0");
  });

  test("what one of them refuses takes nothing of the others", () => {
    const counted = rate();
    for (let n = 0; n < 5; n += 1) counted.take(CALLER);
    expect(counted.take(SISTER).refusal).toBeNull();
    expect(counted.take(SISTER).refusal?.message).toStartWith(
      "This organization has reached its rate limit.",
    );
  });
});
