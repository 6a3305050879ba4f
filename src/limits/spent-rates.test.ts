// For which callers a check of the limits is worth a read: only those with nothing left, and only until one more fits.
import { expect, test } from "bun:test";
import { SpentRates } from "./spent-rates.ts";

const KEY = { organizationId: "org_1", keyId: "key_1" };
const SISTER = { organizationId: "org_1", keyId: "key_2" };
const STRANGER = { organizationId: "org_2", keyId: "key_3" };
/** All six of a minute were taken at once: all are free again in a minute, the next one in ten seconds. */
const SPENT = { subject: "key", of: "requests", limit: 6, remaining: 0, resetMs: 60_000 };

function spentRates() {
  let nowMs = 0;
  const spent = new SpentRates({ monotonicMs: () => nowMs });
  const whom = (): boolean[] => [KEY, SISTER, STRANGER].map((caller) => spent.mayBe(caller));
  return { spent, whom, later: (ms: number) => void (nowMs += ms) };
}

test("a key that has used up its minute is looked at until one more fits, and nobody else", () => {
  const { spent, whom, later } = spentRates();
  spent.note(KEY, [SPENT]);
  expect(whom()).toEqual([true, false, false]);
  later(9_999);
  expect(whom()).toEqual([true, false, false]);
  later(1);
  expect(whom()).toEqual([false, false, false]);
});

test("what an organization has used up is every one of its keys'", () => {
  const { spent, whom } = spentRates();
  spent.note(KEY, [{ ...SPENT, subject: "organization" }]);
  expect(whom()).toEqual([true, true, false]);
});

test("limits of a model or of tokens say nothing of a request that nobody has read, and what is left says that there is room", () => {
  const { spent, whom } = spentRates();
  for (const other of [{ subject: "model" }, { subject: "key_model" }, { of: "tokens" }, { remaining: 1 }])
    spent.note(KEY, [{ ...SPENT, ...other }]);
  expect(whom()).toEqual([false, false, false]);
});

test("it forgets rather than grow", () => {
  const { spent, whom } = spentRates();
  spent.note(KEY, [SPENT]);
  for (let n = 0; n < 10_000; n += 1) spent.note({ ...STRANGER, keyId: `key_x${n}` }, [SPENT]);
  expect(whom()).toEqual([false, false, false]);
});
