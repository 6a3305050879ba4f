import { expect, test } from "bun:test";
import { TakingTurns } from "./taking-turns.ts";

const hanging = new Promise<void>(() => {});

test("who was never served comes first, then who was served longest ago, each in the order that they wait in", async () => {
  const turns = new TakingTurns(3);
  for (const id of ["a", "b", "c"]) await turns.take(id, Promise.resolve());
  await turns.take("a", Promise.resolve());
  expect(turns.next(["a", "b", "d", "c", "e"])).toEqual(["d", "e", "b"]);
});

test("who has something under way is passed over until it ends, however that is", async () => {
  const turns = new TakingTurns(4);
  void turns.take("hangs", hanging);
  const fails = turns.take("fails", Promise.reject(new Error("no")));
  expect([turns.free, turns.next(["hangs", "fails", "other"])]).toEqual([2, ["other"]]);
  await fails.catch(() => {});
  expect([turns.free, turns.next(["hangs", "fails", "other"])]).toEqual([3, ["other", "fails"]]);
});

test("there are no more turns than places", () => {
  const turns = new TakingTurns(2);
  void turns.take("a", hanging);
  expect(turns.next(["b", "c"])).toEqual(["b"]);
  void turns.take("b", hanging);
  expect([turns.free, turns.next(["c"])]).toEqual([0, []]);
});
