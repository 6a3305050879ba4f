import { expect, test } from "bun:test";
import { aloud } from "./aloud.ts";

test("nothing is said of what takes less than a second; what lasts is told with its time, and no longer once it is over", async () => {
  const told: string[] = [];
  expect(
    await aloud(
      (words) => told.push(words),
      () => "nothing",
      async () => 1,
    ),
  ).toBe(1);
  let said = (): void => {};
  const heard = new Promise<void>((resolve) => (said = resolve));
  const failed = aloud(
    (words) => {
      told.push(words);
      said();
    },
    async () => "the lock of a neighbour",
    async () => {
      await heard;
      throw new Error("given up");
    },
  );
  expect(await failed.catch(String)).toBe("Error: given up");
  expect(told).toEqual(["waiting for the lock of a neighbour (1 s so far)"]);
});

test("what it waits for may be unknown: the work goes on", async () => {
  let asked = (): void => {};
  const wasAsked = new Promise<void>((resolve) => (asked = resolve));
  const told: string[] = [];
  const waitsFor = (): string => {
    asked();
    throw new Error("nobody knows");
  };
  expect(
    await aloud(
      (words) => told.push(words),
      waitsFor,
      () => wasAsked.then(() => "done"),
    ),
  ).toBe("done");
  expect(told).toEqual([]);
});
