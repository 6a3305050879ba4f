import { expect, test } from "bun:test";
import { csvFile } from "../../api/csv.ts";
import { cell } from "../../domain/csv.ts";
import { Lines } from "../../lib/lines.ts";
import { csvResponse } from "./csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["-2+3", "'-2+3"],
  ["-0.000000001", "-0.000000001"],
  ['say "hi", twice', '"say ""hi"", twice"'],
  ["a\nb", '"a\nb"'],
  // Where a semicolon or a tab is the separator, the text after it begins a cell.
  ["a;=1+1", "a;'=1+1"],
  ["a; -2+3;@SUM(A1)", "a; '-2+3;'@SUM(A1)"],
  ['a;"=1+1"', '"a;""\'=1+1"""'],
  ["＝1+1", "'＝1+1"],
  ["a; b", "a; b"],
  [null, ""],
  [0, "0"],
  [false, "false"],
] as const)("%p is written %s", (value, text) => expect(cell(value)).toBe(text));

const pages = new Lines(1);
const reader = (by: string, party = by) => ({ asker: { party, by }, stands: async () => true, pages });

test("of many files one page is read at a time, and their readers take turns", async () => {
  let [reading, most] = [0, 0];
  const order: string[] = [];
  const file = async (by: string) => {
    const page = async (cursor = "0") => {
      most = Math.max(most, ++reading);
      if (cursor !== "0") order.push(by);
      await Bun.sleep(2);
      reading -= 1;
      const next = Number(cursor) + 1;
      return { data: [next], next_cursor: next < 4 ? String(next) : null };
    };
    const made = await csvFile({ name: by, columns: { n: (row: number) => row }, page });
    return async () => await csvResponse(made, reader(by)).text();
  };
  const files: (() => Promise<string>)[] = [];
  for (const by of ["greedy", "greedy", "greedy", "greedy", "modest"]) files.push(await file(by));
  const texts = await Promise.all(files.map((read) => read()));
  expect(new Set(texts)).toEqual(new Set(["n\r\n1\r\n2\r\n3\r\n4\r\n"]));
  expect(most).toBe(1);
  expect(order.lastIndexOf("modest")).toBeLessThan(order.length - 3);
});

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
    reader("a"),
  );
  expect(await response.text()).toBe("n\r\n1\r\n2\r\n3\r\n");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="t-..-x.csv"');
  expect(csvFile({ ...table, page: () => Promise.reject(new Error("away")) })).rejects.toThrow("away");
});
