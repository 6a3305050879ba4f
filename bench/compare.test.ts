// A comparison reports a difference only if the ranges of the two revisions do not overlap.
import { expect, test } from "bun:test";
import { printComparison } from "./compare.ts";

const place = { section: "JSON", name: "CPU", peer: "tollgate", unit: "µs" };
const last = (old: number[], ours: number[]): string =>
  printComparison({ title: "abc", compared: [{ ...place, old, new: ours }] })
    .split("\n")
    .at(-1) ?? "";

test("ranges that do not overlap are a difference, reported with the median and the range of the rounds", () => {
  expect(last([100, 110, 120], [50, 44, 54])).toMatch(
    /110 µs +100 – 120 +50 µs +44 – 54 +−55\.0 % +−60\.0 – −50\.0$/,
  );
});

test("overlapping ranges are noise, whatever their medians are", () => {
  expect(last([100, 110, 120], [90, 112, 80])).toMatch(/within noise$/);
});

test("overlapping ranges stay noise even if every round agrees, which is reported", () => {
  expect(last([100, 200, 300], [90, 180, 290])).toMatch(/within noise, every round agrees$/);
});

test("a figure that was zero has no relative change", () => {
  expect(last([0, 0], [0, 0])).not.toContain("%");
  expect(last([0, 0], [5, 6])).not.toContain("%");
});
