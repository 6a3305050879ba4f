import { expect, test } from "bun:test";
import { testClock } from "../../test/support/clock.ts";
import { SteadyClock } from "./steady-clock.ts";

const HOUR_MS = 3_600_000;
const begun = () => {
  const clock = testClock();
  const steady = new SteadyClock(clock, HOUR_MS);
  /** How far it is behind the wall clock, in whole seconds. */
  const behind = () => Math.round((clock.nowMs() - steady.nowMs()) / 1000);
  return { clock, behind };
};

test("a clock set forward is accepted after it has stayed so long enough", () => {
  const { clock, behind } = begun();
  clock.advance(24 * HOUR_MS);
  expect(behind()).toBe(24 * 3600);
  clock.pass(HOUR_MS - 5_000);
  expect(behind()).toBe(24 * 3600);
  clock.pass(10_000);
  expect(behind()).toBe(0);
});

test("a clock set back is accepted at once", () => {
  const { clock, behind } = begun();
  clock.advance(24 * HOUR_MS);
  expect(behind()).toBe(24 * 3600);
  clock.advance(-48 * HOUR_MS);
  expect(behind()).toBe(0);
});

test("each of several steps is accepted after its own time", () => {
  const { clock, behind } = begun();
  clock.advance(60_000);
  expect(behind()).toBe(60);
  clock.pass(HOUR_MS / 2);
  expect(behind()).toBe(60);
  clock.advance(30_000);
  expect(behind()).toBe(90);
  clock.pass(HOUR_MS / 2 + 1_000);
  expect(behind()).toBe(30);
  clock.pass(HOUR_MS / 2);
  expect(behind()).toBe(0);
});
