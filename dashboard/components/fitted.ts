// A table that fits: before it is painted, which of its columns have no room, and how wide the fractions of its amounts are.
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { type Foldable, foldedOf } from "./folded.ts";

interface Fitted {
  table: RefObject<HTMLTableElement | null>;
  /** Places of the columns that have no room. */
  folded: readonly number[];
}

const NONE: readonly number[] = [];

/** Measured anew when rows, columns or the width of the page are others. */
export function useFitted(
  columns: readonly (Foldable & { title: string })[],
  rows: readonly unknown[],
  width: number,
): Fitted {
  const table = useRef<HTMLTableElement>(null);
  const [folded, setFolded] = useState(NONE);
  const titles = columns.map(({ title }) => title).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: columns are made anew with each render; their titles tell them apart.
  useLayoutEffect(() => {
    const { current } = table;
    const room = current?.parentElement?.clientWidth ?? 0;
    if (current === null || room === 0) return;
    current.dataset["measured"] = "";
    alignAmounts(current);
    const widths = { natural: widthsAt(current, "max-content"), least: widthsAt(current, "min-content") };
    current.style.width = "";
    delete current.dataset["measured"];
    const found = foldedOf(columns, widths, room);
    setFolded((before) => (before.join() === found.join() ? before : found));
  }, [rows, titles, width]);
  return { table, folded };
}

function widthsAt(table: HTMLTableElement, width: "max-content" | "min-content"): number[] {
  table.style.width = width;
  return [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.getBoundingClientRect().width);
}

/**
 * The fractions of a column are as wide as its longest one, so that the points stand under each other; not where a cell has
 * more than one amount.
 */
function alignAmounts(table: HTMLTableElement): void {
  const widths = new Map<number, number>();
  for (const row of table.rows)
    for (const cell of row.cells) {
      const fractions = cell.querySelectorAll(".fraction");
      const [first] = fractions;
      if (first === undefined) continue;
      const width = fractions.length > 1 ? Number.NaN : first.getBoundingClientRect().width;
      widths.set(cell.cellIndex, Math.max(width, widths.get(cell.cellIndex) ?? 0));
    }
  for (const [at, width] of widths)
    table.style.setProperty(`--fraction-${at}`, Number.isNaN(width) ? "0" : `${width}px`);
}
