import { expect, test } from "bun:test";
import { openedOnce } from "./opened-once.ts";

test("all callers share one opening, later ones too", async () => {
  let openings = 0;
  const open = openedOnce(async () => ({ nth: ++openings }));
  const [first, second] = await Promise.all([open(), open()]);
  expect(second).toBe(first);
  expect(await open()).toBe(first);
  expect(openings).toBe(1);
});

test("a failure reaches all waiting callers, and the next call tries again", async () => {
  let isAway = true;
  const open = openedOnce(async () => {
    if (isAway) throw new Error("away");
    return "there";
  });
  const told = await Promise.all([open(), open()].map((opening) => opening.catch(String)));
  expect(told).toEqual(["Error: away", "Error: away"]);
  isAway = false;
  expect(await open()).toBe("there");
});
