import { expect, test } from "bun:test";
import { TakingTurns } from "./taking-turns.ts";

const hanging = new Promise<void>(() => {});

test("those never served come first, then those served longest ago, each in the order they wait in", async () => {
  const turns = new TakingTurns(3);
  for (const id of ["a", "b", "c"]) await turns.take(id, Promise.resolve());
  await turns.take("a", Promise.resolve());
  expect(turns.next(["a", "b", "d", "c", "e"])).toEqual(["d", "e", "b"]);
});

test("one with work in progress is skipped until it ends, whatever the outcome", async () => {
  const turns = new TakingTurns(4);
  void turns.take("hangs", hanging);
  const fails = turns.take("fails", Promise.reject(new Error("no")));
  expect([turns.free, turns.next(["hangs", "fails", "other"])]).toEqual([2, ["other"]]);
  await fails.catch(() => {});
  expect([turns.free, turns.next(["hangs", "fails", "other"])]).toEqual([3, ["other", "fails"]]);
});

test("no more turns are taken than there are places", () => {
  const turns = new TakingTurns(2);
  void turns.take("a", hanging);
  expect(turns.next(["b", "c"])).toEqual(["b"]);
  void turns.take("b", hanging);
  expect([turns.free, turns.next(["c"])]).toEqual([0, []]);
});
