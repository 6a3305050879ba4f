// What the server says in the place of a stored time that is damaged is what the page says, and no page breaks over it.
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

test("a damaged time is shown as what it is", () => {
  for (const shown of [formatTime, formatLocalTime, formatDay, localTime, relativeTime])
    expect([shown.name, shown(DAMAGED)]).toEqual([shown.name, "damaged"]);
  expect(formatSpan(Date.parse(DAMAGED) - Date.now())).toBe("unknown");
});
