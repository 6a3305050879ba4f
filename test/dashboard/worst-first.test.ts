// The order of the providers' cards and of the routes in them.
import { expect, test } from "bun:test";
import { notLiveFirst, worstFirst } from "../../dashboard/pages/operator/providers/worst-first.ts";

const provider = (name: string, ...states: string[]) => ({
  name,
  routes: states.map((state) => ({ state })),
});

test("providers that serve nobody come first, then those that serve in part; those without a route come last; the rest by name", () => {
  const given = [
    provider("idle"),
    provider("whole", "live"),
    provider("half", "live", "stale"),
    provider("dead", "disabled", "unhealthy"),
    provider("also whole", "live", "live"),
  ];
  expect(worstFirst(given).map(({ name }) => name)).toEqual(["dead", "half", "also whole", "whole", "idle"]);
});

test("the routes that are not live come first, each group in the given order", () => {
  const routes = ["a live", "b stale", "c live", "d disabled"].map((line) => {
    const [name = "", state = ""] = line.split(" ");
    return { name, state };
  });
  expect(notLiveFirst(routes).map(({ name }) => name)).toEqual(["b", "d", "a", "c"]);
});
