import { expect, test } from "bun:test";
import { Windows } from "./window.ts";

const windows = (): Windows => new Windows({ most: 2, windowMs: 100, kept: 3 });

test("so many of one in a window that begins with its first; others have their own", () => {
  const counted = windows();
  expect(counted.count("a", 0)).toEqual({ fits: true, left: 1, resetMs: 100 });
  expect(counted.count("a", 60)).toEqual({ fits: true, left: 0, resetMs: 40 });
  expect(counted.count("a", 99)).toEqual({ fits: false, left: 0, resetMs: 1 });
  expect(counted.count("b", 99).fits).toBe(true);
  expect(counted.count("a", 100)).toEqual({ fits: true, left: 1, resetMs: 100 });
});

test("whether one more would be counted is told without counting it", () => {
  const counted = windows();
  expect([counted.fits("a", 0), counted.fits("a", 0), counted.fits("a", 0)]).toEqual([true, true, true]);
  counted.count("a", 0);
  expect(counted.fits("a", 0)).toBe(true);
  counted.count("a", 0);
  expect([counted.fits("a", 99), counted.fits("b", 99), counted.fits("a", 100)]).toEqual([false, true, true]);
});

test("no more are kept than may be: those that have ended go, else the one that began first", () => {
  const counted = windows();
  for (const [id, atMs] of [
    ["a", 0],
    ["a", 0],
    ["b", 50],
    ["b", 50],
    ["c", 60],
    ["c", 60],
  ] as const)
    counted.count(id, atMs);
  expect(counted.count("d", 120).fits).toBe(true); // "a" had ended
  expect(counted.count("b", 120).fits).toBe(false);
  expect(counted.count("e", 121).fits).toBe(true); // nothing had ended: "b" began first
  expect(counted.count("c", 121).fits).toBe(false);
  expect(counted.count("b", 121).fits).toBe(true); // forgotten
});
