// Colours of chart series.
import { expect, test } from "bun:test";
import { coloursOf } from "../../dashboard/components/series-colours.ts";

test("a name has its colour whatever its rank is, and no two of a chart share one", () => {
  const names = [
    "base-preview-v1",
    "plain-1",
    "research-1",
    "vision-2",
    "quick-3",
    "deep-4",
    "small-5",
    "large-6",
  ];
  const colours = coloursOf(names);
  expect(new Set(colours).size).toBe(names.length);
  expect(coloursOf(names.toReversed())).toEqual(colours.toReversed());
  expect(coloursOf(["Other", "plain-1"], "Other")).toEqual(["gray.5", coloursOf(["plain-1"])[0] ?? ""]);
});
