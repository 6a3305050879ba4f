import { expect, test } from "bun:test";
import { isSampled, type Sampling } from "./sampler.ts";

const FIRST = "0".repeat(32);
const MIDDLE = `${"0".repeat(19)}8000000000000`;
const LAST = `${"0".repeat(19)}fffffffffffff`;
const asked = (sampled: boolean) => ({ traceId: FIRST, spanId: "1".repeat(16), sampled });
const of = (sampler: Sampling["sampler"], ratio = 1): Sampling => ({ sampler, ratio });

test("the caller's flag decides only for samplers based on the parent", () => {
  expect(isSampled(of("parentbased_always_on"), FIRST, asked(false))).toBe(false);
  expect(isSampled(of("parentbased_always_off"), FIRST, asked(true))).toBe(true);
  expect(isSampled(of("parentbased_traceidratio", 0), FIRST, asked(true))).toBe(true);
  expect(isSampled(of("always_on"), FIRST, asked(false))).toBe(true);
  expect(isSampled(of("always_off"), LAST, asked(true))).toBe(false);
  expect(isSampled(of("traceidratio", 0), LAST, asked(true))).toBe(false);
});

test("without a caller's flag the sampler decides", () => {
  expect(isSampled(of("parentbased_always_on"), FIRST, null)).toBe(true);
  expect(isSampled(of("parentbased_always_off"), FIRST, null)).toBe(false);
  expect(isSampled(of("parentbased_traceidratio", 0), LAST, null)).toBe(false);
});

test("a share of the traces is kept, the same ones on every gateway", () => {
  const kept = (ratio: number): boolean[] =>
    [FIRST, MIDDLE, LAST].map((traceId) => isSampled(of("traceidratio", ratio), traceId, null));
  expect(kept(1)).toEqual([true, true, true]);
  expect(kept(0.5)).toEqual([false, true, true]);
  expect(kept(0.1)).toEqual([false, false, true]);
  expect(kept(0)).toEqual([false, false, false]);
});
