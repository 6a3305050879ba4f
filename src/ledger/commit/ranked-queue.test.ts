import { expect, test } from "bun:test";
import { RankedQueue } from "./ranked-queue.ts";

const queued = (...names: string[]): RankedQueue<string> => {
  const queue = new RankedQueue<string>((name) => Number(name[0]) as 0 | 1 | 2);
  for (const name of names) queue.push(name);
  return queue;
};

test("lower ranks are taken first, equal ones in order of arrival, and no more than asked for", () => {
  const queue = queued("2a", "0a", "1a", "2b", "0b");
  expect(queue.length).toBe(5);
  expect(queue.take(3)).toEqual(["0a", "0b", "1a"]);
  expect(queue.take(Number.MAX_SAFE_INTEGER)).toEqual(["2a", "2b"]);
  expect(queue.length).toBe(0);
});

test("items put back are taken before those that arrived since, in their old order", () => {
  const queue = queued("1a", "1b", "2a");
  const taken = queue.take(3);
  for (const name of ["1c", "0a", "2b"]) queue.push(name);
  queue.putBack(taken);
  expect(queue.take(6)).toEqual(["0a", "1a", "1b", "1c", "2a", "2b"]);
});
