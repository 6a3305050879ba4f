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

test("a clock that is put forward is believed once it has been so for long enough", () => {
  const { clock, behind } = begun();
  clock.advance(24 * HOUR_MS);
  expect(behind()).toBe(24 * 3600);
  clock.pass(HOUR_MS - 5_000);
  expect(behind()).toBe(24 * 3600);
  clock.pass(10_000);
  expect(behind()).toBe(0);
});

test("a clock that is put back is believed at once, whatever it said before", () => {
  const { clock, behind } = begun();
  clock.advance(24 * HOUR_MS);
  expect(behind()).toBe(24 * 3600);
  clock.advance(-48 * HOUR_MS);
  expect(behind()).toBe(0);
});

test("of several steps each is believed in its own time", () => {
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
