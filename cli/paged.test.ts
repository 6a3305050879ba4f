// What a list on the terminal says about the rows that it does not show.
import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { tellMore } from "./paged.ts";

const written = spyOn(process.stderr, "write").mockImplementation(() => true);
afterEach(() => written.mockClear());
afterAll(() => written.mockRestore());
const said = (): string => written.mock.calls.map(([text]) => String(text)).join("");

test("a full page names the cursor of the next one; the last one says nothing", () => {
  tellMore({ next_cursor: "req_1" });
  expect(said()).toBe("There are more: add --cursor req_1\n");
  written.mockClear();
  tellMore({ next_cursor: null });
  expect(said()).toBe("");
});

test("a page that ended before it was full says how far back it searched", () => {
  tellMore({ next_cursor: "req_1", searched_to: "2026-11-01T00:00:00.000Z" });
  expect(said()).toBe("Searched back to 2026-11-01T00:00:00.000Z, there may be more: add --cursor req_1\n");
});
