// Fits a table to its width before it is painted: decides which columns do not fit, and how wide the fractions of its
// amounts are.
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { type Foldable, foldedOf } from "./folded.ts";

interface Fitted {
  table: RefObject<HTMLTableElement | null>;
  /** Indexes of the columns that do not fit. */
  folded: readonly number[];
}

const NONE: readonly number[] = [];

/** Measured again when rows, columns or the page's width change. */
export function useFitted(
  columns: readonly (Foldable & { title: string })[],
  rows: readonly unknown[],
  width: number,
): Fitted {
  const table = useRef<HTMLTableElement>(null);
  const [folded, setFolded] = useState(NONE);
  const titles = columns.map(({ title }) => title).join();
  const measured = useRef<Measured>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: columns are made anew with each render; their titles tell them apart.
  useLayoutEffect(() => {
    const { current } = table;
    const before = measured.current;
    // The box reports its width after the table was measured in it, and usually nothing has changed.
    const sameRoom = width === 0 || Math.round(width) === before?.room;
    if (sameRoom && before?.titles === titles && sameRows(before.rows, rows)) return;
    const room = current?.parentElement?.clientWidth ?? 0;
    if (current === null || room === 0) return;
    measured.current = { rows, titles, room };
    const scrolled = current.parentElement?.scrollLeft ?? 0;
    current.dataset["measured"] = "";
    alignAmounts(current); // first: a column of amounts is as wide as they are when aligned
    const widths = { natural: widthsAt(current, "max-content"), least: widthsAt(current, "min-content") };
    current.style.width = "";
    delete current.dataset["measured"];
    if (scrolled > 0 && current.parentElement !== null) current.parentElement.scrollLeft = scrolled;
    const found = foldedOf(columns, widths, room);
    setFolded((folds) => (folds.join() === found.join() ? folds : found));
  }, [rows, titles, width]);
  return { table, folded };
}

interface Measured {
  rows: readonly unknown[];
  titles: string;
  room: number;
}

/** Cached answers keep their row objects: a filtered list is unchanged if all of its rows are the same. */
export const sameRows = (before: readonly unknown[], now: readonly unknown[]): boolean =>
  before === now || (before.length === now.length && before.every((row, at) => row === now[at]));

function widthsAt(table: HTMLTableElement, width: "max-content" | "min-content"): number[] {
  table.style.width = width;
  return [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.getBoundingClientRect().width);
}

/**
 * Gives the fractions of a column the width of the longest, so that the decimal points are aligned; skips columns
 * with several amounts per cell.
 */
function alignAmounts(table: HTMLTableElement): void {
  for (let at = 0; at < (table.tHead?.rows[0]?.cells.length ?? 0); at++)
    table.style.removeProperty(`--fraction-${at}`);
  const widths = new Map<number, number>();
  let last: HTMLTableCellElement | null = null;
  for (const fraction of table.querySelectorAll(".fraction")) {
    const cell = fraction.closest<HTMLTableCellElement>("td, th");
    if (cell === null) continue;
    const width = cell === last ? Number.NaN : fraction.getBoundingClientRect().width;
    widths.set(cell.cellIndex, Math.max(width, widths.get(cell.cellIndex) ?? 0));
    last = cell;
  }
  // Hidden while the widths are set: Chromium measured a newly set width as zero. The frame keeps its height, so that
  // the page does not scroll.
  const frame = table.parentElement;
  if (frame !== null) frame.style.minHeight = `${frame.offsetHeight}px`;
  table.style.display = "none";
  for (const [at, width] of widths)
    table.style.setProperty(`--fraction-${at}`, Number.isNaN(width) ? "0" : `${width}px`);
  void table.offsetWidth;
  table.style.display = "";
  if (frame !== null) frame.style.minHeight = "";
}
