// The page shows the server's placeholder for a damaged stored time, and no page fails because of it.
import { expect, test } from "bun:test";
import { DAMAGED } from "../../src/domain/print.ts";
import {
  formatDay,
  formatLocalTime,
  formatSpan,
  formatTime,
  localTime,
  relativeTime,
} from "../../dashboard/format/time.ts";

test("a damaged time is shown as such", () => {
  for (const shown of [formatTime, formatLocalTime, formatDay, localTime, relativeTime])
    expect([shown.name, shown(DAMAGED)]).toEqual([shown.name, "damaged"]);
  expect(formatSpan(Date.parse(DAMAGED) - Date.now())).toBe("unknown");
});
