// Columns that are folded on narrow screens: never the first one, never the amount, the least important first.
import { expect, test } from "bun:test";
import { foldedOf } from "../../dashboard/components/folded.ts";

const COLUMNS = [
  { always: true },
  {},
  {},
  { always: true },
  { wider: true },
  { wider: true },
  { acts: true },
];
const WIDTHS = { natural: [90, 200, 100, 80, 120, 300, 60], least: [90, 80, 60, 80, 60, 90, 60] };

const foldedAt = (room: number): number[] => foldedOf(COLUMNS, WIDTHS, room);

test("columns that fit stay, optional ones stay only if rows fit on one line, essential ones go last", () => {
  expect(foldedAt(950)).toEqual([]);
  expect(foldedAt(949)).toEqual([5]);
  expect(foldedAt(649)).toEqual([4, 5]);
  expect(foldedAt(370)).toEqual([4, 5]);
  expect(foldedAt(369)).toEqual([2, 4, 5]);
  expect(foldedAt(309)).toEqual([1, 4, 5]);
  expect(foldedAt(289)).toEqual([1, 2, 4, 5]);
});

test("a narrow column comes back if a wide one had to go", () => {
  const columns = [{ always: true }, {}, {}, {}];
  const widths = { natural: [100, 300, 80, 90], least: [100, 300, 80, 90] };
  expect(foldedOf(columns, widths, 200)).toEqual([1, 3]);
  expect(foldedOf(columns, widths, 280)).toEqual([1]);
});

test("the first column does not shrink to one word per line: figures go before it has less than two fifths", () => {
  const columns = [{ always: true }, { always: true }, {}, {}];
  const widths = { natural: [300, 80, 90, 60], least: [60, 80, 90, 60] };
  expect(foldedOf(columns, widths, 500)).toEqual([]);
  expect(foldedOf(columns, widths, 360)).toEqual([3]);
  expect(foldedOf(columns, { ...widths, natural: [100, 80, 90, 60] }, 360)).toEqual([]);
});

test("the first column, the amount and the acts stay however narrow it is", () => {
  for (const room of [0, 1, 100, 200]) expect(foldedAt(room)).toEqual([1, 2, 4, 5]);
  expect(foldedOf([{}, {}], { natural: [500, 500], least: [400, 400] }, 10)).toEqual([1]);
});
