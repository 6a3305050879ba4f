// Near names: one slip, a swap, case; no suggestion for an entirely different name.
import { expect, test } from "bun:test";
import { didYouMean, nearName } from "./near-name.ts";

const NAMES = ["standard", "research", "base-preview-v1", "base-preview-v2", "key", "day"];
test.each([
  ["standart", "standard"],
  ["reserach", "research"],
  ["Research", "research"],
  ["base-preview-v3", "base-preview-v1"],
  ["base-previw-v2", "base-preview-v2"],
  ["kye", "key"],
  ["dya", "day"],
  ["dy", "day"],
  ["gpt-5", null],
  ["", null],
  ["xyz", null],
  ["x".repeat(101), null],
])("%p is near %p", (word, near) => expect(nearName(word, NAMES)).toBe(near));

test("the hint follows a sentence, or is empty", () => {
  expect(didYouMean("standart", NAMES)).toBe(" Did you mean standard?");
  expect(didYouMean("gpt-5", NAMES)).toBe("");
});
