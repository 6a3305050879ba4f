// How a provider's state follows from its routes: nothing live is called down, and a deliberate outage does
// not hide an accidental one.
import { expect, test } from "bun:test";
import { standingOf } from "./home-providers.ts";

type Standing = Parameters<typeof standingOf>[0][number];
const LIVE: Standing = { state: "live", reason: null, sinceMs: null };
const DISABLED: Standing = { state: "disabled", reason: "by hand", sinceMs: 1_000 };
const STALE: Standing = { state: "stale", reason: "expired", sinceMs: 5_000 };

test("one live route of three makes a provider partly live", () => {
  expect(standingOf([DISABLED, LIVE, DISABLED])).toEqual({
    state: "partly_live",
    reason: "by hand",
    since: "1970-01-01T00:00:01.000Z",
    routes: 3,
    live_routes: 1,
  });
});

test("all live is live, none live is the worst state, no routes is none", () => {
  expect(standingOf([LIVE, LIVE])).toMatchObject({
    state: "live",
    reason: null,
    since: null,
    live_routes: 2,
  });
  expect(standingOf([DISABLED])).toMatchObject({ state: "disabled", reason: "by hand", live_routes: 0 });
  expect(standingOf([])).toMatchObject({ state: "none", reason: null, since: null, routes: 0 });
});

test("a route that an operator disabled does not hide one that went stale", () => {
  expect(standingOf([DISABLED, STALE])).toMatchObject({ state: "stale", reason: "expired" });
  expect(standingOf([DISABLED, LIVE, STALE])).toMatchObject({ state: "partly_live", reason: "expired" });
});

test("of routes in the same state the longest one counts; unknown times come last, and two of them are equal", () => {
  const unknown: Standing = { state: "stale", reason: "unknown", sinceMs: null };
  expect(standingOf([unknown, STALE]).reason).toBe("expired");
  expect(standingOf([unknown, { ...unknown, reason: "second" }]).reason).toBe("unknown");
});
