import { expect, test } from "bun:test";
import { instantOf, spanMs } from "./instant.ts";

test.each([
  ["30d", 2_592_000_000],
  ["12h", 43_200_000],
  ["5m", 300_000],
  ["1s", 1000],
])("%s is a span", (text, ms) => expect(spanMs(text)).toBe(ms));

test.each(["30", "d", "1.5h", "-1d", "1w", ""])("%j is no span", (text) => expect(spanMs(text)).toBeNull());

test("a span counts from now; a time is passed on as it was written", () => {
  expect(instantOf("1d", Date.UTC(2026, 10, 21))).toBe("2026-11-22T00:00:00.000Z");
  expect(instantOf("2026-12-31", 0)).toBe("2026-12-31");
});
