// The order of the providers' cards and of the routes in them.
import { expect, test } from "bun:test";
import { notLiveFirst, worstFirst } from "../../dashboard/pages/operator/providers/worst-first.ts";

const provider = (name: string, ...states: string[]) => ({
  name,
  routes: states.map((state) => ({ state })),
});

test("who serves nobody comes first, then who serves in part; who has no route comes last; the others by name", () => {
  const given = [
    provider("idle"),
    provider("whole", "live"),
    provider("half", "live", "stale"),
    provider("dead", "disabled", "unhealthy"),
    provider("also whole", "live", "live"),
  ];
  expect(worstFirst(given).map(({ name }) => name)).toEqual(["dead", "half", "also whole", "whole", "idle"]);
});

test("the routes that are not live come first, each in the order that was given", () => {
  const routes = ["a live", "b stale", "c live", "d disabled"].map((line) => {
    const [name = "", state = ""] = line.split(" ");
    return { name, state };
  });
  expect(notLiveFirst(routes).map(({ name }) => name)).toEqual(["b", "d", "a", "c"]);
});
