// What a comparison claims: a difference only where the ranges of the two revisions are apart.
import { expect, test } from "bun:test";
import { printComparison } from "./compare.ts";

const place = { section: "JSON", name: "CPU", peer: "tollgate", unit: "µs" };
const last = (old: number[], ours: number[]): string =>
  printComparison({ title: "abc", compared: [{ ...place, old, new: ours }] })
    .split("\n")
    .at(-1) ?? "";

test("ranges that are apart are a difference, told with the median and the range of the rounds", () => {
  expect(last([100, 110, 120], [50, 44, 54])).toMatch(
    /110 µs +100 – 120 +50 µs +44 – 54 +−55\.0 % +−60\.0 – −50\.0$/,
  );
});

test("ranges that overlap are noise, whatever their medians are", () => {
  expect(last([100, 110, 120], [90, 112, 80])).toMatch(/within noise$/);
});

test("ranges that overlap stay noise where every round agrees, which is said", () => {
  expect(last([100, 200, 300], [90, 180, 290])).toMatch(/within noise, every round agrees$/);
});

test("a figure that was zero has no share that it changed by", () => {
  expect(last([0, 0], [0, 0])).not.toContain("%");
  expect(last([0, 0], [5, 6])).not.toContain("%");
});
