import { expect, test } from "bun:test";
import { csvFile } from "../../api/csv.ts";
import { cell } from "../../domain/csv.ts";
import { csvResponse } from "./csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["-2+3", "'-2+3"],
  ["-0.000000001", "-0.000000001"],
  ['say "hi", twice', '"say ""hi"", twice"'],
  ["a\nb", '"a\nb"'],
  // Where a semicolon or a tab separates, what is behind it begins a cell.
  ["a;=1+1", "a;'=1+1"],
  ["a; -2+3;@SUM(A1)", "a; '-2+3;'@SUM(A1)"],
  ['a;"=1+1"', '"a;""\'=1+1"""'],
  ["＝1+1", "'＝1+1"],
  ["a; b", "a; b"],
  [null, ""],
  [0, "0"],
  [false, "false"],
] as const)("%p is written %s", (value, text) => expect(cell(value)).toBe(text));

test("pages are read one after the other, and a failing first page is no answer", async () => {
  const pages = [
    { data: [1, 2], next_cursor: "2" },
    { data: [3], next_cursor: null },
  ];
  const table = { name: "t/../x", columns: { n: (row: number) => row } };
  const response = csvResponse(
    await csvFile({
      ...table,
      page: async (cursor) => pages[cursor === undefined ? 0 : 1] ?? pages[1]!,
    }),
    async () => true,
  );
  expect(await response.text()).toBe("n\r\n1\r\n2\r\n3\r\n");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="t-..-x.csv"');
  expect(csvFile({ ...table, page: () => Promise.reject(new Error("away")) })).rejects.toThrow("away");
});
