import { expect, test } from "bun:test";
import { gather } from "./gather.ts";

/** Knows the length of each text, cannot read `torn`, and does not know `none`. */
function lengths(atMost = 10) {
  const asked: (readonly string[])[] = [];
  const lengthOf = gather<number>({
    nothing: -1,
    atMost,
    ask: async (ids) => {
      asked.push(ids);
      const known = ids.filter((id) => id !== "none");
      return new Map(known.map((id) => [id, () => readLength(id)]));
    },
  });
  return { asked, lengthOf };
}
function readLength(id: string): number {
  if (id === "torn") throw new Error("torn");
  return id.length;
}

test("callers in one turn share a question, each named once; later callers get another", async () => {
  const { asked, lengthOf } = lengths();
  expect(await Promise.all(["a", "bb", "a", "none"].map(lengthOf))).toEqual([1, 2, 1, -1]);
  expect(await lengthOf("ccc")).toBe(3);
  expect(asked).toEqual([["a", "bb", "none"], ["ccc"]]);
});

test("no question is longer than its bound", async () => {
  const { asked, lengthOf } = lengths(2);
  expect(await Promise.all(["a", "bb", "ccc", "dddd", "eeeee"].map(lengthOf))).toEqual([1, 2, 3, 4, 5]);
  expect(asked.map(({ length }) => length)).toEqual([2, 2, 1]);
});

test("an unreadable row fails only for its own caller", async () => {
  const { lengthOf } = lengths();
  const found = await Promise.allSettled(["a", "torn", "bb"].map(lengthOf));
  expect(found.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
