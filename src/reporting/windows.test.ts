import { expect, test } from "bun:test";
import { standingWindow, windowIfAsked } from "./windows.ts";

test("a window that ends now stays fixed while a file of it is written", () => {
  const began = Date.parse("2026-11-30T23:59:59.000Z");
  const later = began + 60_000;
  for (const range of ["24h", "7d", "30d", "month"] as const) {
    const asked = standingWindow({ range, model: "m" }, began);
    expect(asked).toMatchObject({ range: undefined, model: "m" });
    expect(windowIfAsked(asked, later)).toEqual(windowIfAsked({ range }, began));
  }
  const given = { from: "2026-11-01", to: "2026-11-02" };
  expect(standingWindow(given, began)).toEqual(given);
  expect(standingWindow({}, began)).toEqual({});
});
