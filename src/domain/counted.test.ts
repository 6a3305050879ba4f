import { expect, test } from "bun:test";
import { counted } from "./counted.ts";

test.each([
  [1, "1 key"],
  [1n, "1 key"],
  ["1", "1 key"],
  [0, "0 keys"],
  [0.1, "0.1 keys"],
  [1.5, "1.5 keys"],
  [21, "21 keys"],
  ["1,001", "1,001 keys"],
])("%p of a noun", (count, told) => {
  expect(counted(count, "key")).toBe(told);
});

test("a noun whose plural is another word", () => {
  expect([counted(1, "entry", "entries"), counted(2, "entry", "entries")]).toEqual(["1 entry", "2 entries"]);
});
