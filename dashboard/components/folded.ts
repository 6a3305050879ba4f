// Decides which columns of a table stay if not all fit, from widths measured on the page. Pure.

export interface Foldable {
  /** Kept however narrow the screen is: the column that identifies the row, and its amount. */
  always?: boolean;
  /** Shown only if there is room for more than the essentials. */
  wider?: boolean;
  /** A column of buttons, which need no visible title: it is for screen readers only. */
  acts?: boolean;
}

/** In pixels, one for each column. */
export interface Widths {
  /** With every cell on one line. */
  natural: readonly number[];
  /** With no word broken. */
  least: readonly number[];
}

/** The identifying column may take up to this share of a table, and no more than this many pixels. */
const FIRST = 0.4;
const FIRST_AT_MOST = 160;

/**
 * The indexes of the columns that do not fit. First drops `wider` columns from the last on until every row fits on
 * one line, then other droppable columns until no word is broken; then brings back those that fit beside the rest.
 * The first column always stays.
 */
export function foldedOf(columns: readonly Foldable[], { natural, least }: Widths, room: number): number[] {
  const folded = new Set<number>();
  // The identifying column does not shrink to one word per line: others are dropped first.
  const kept = least.map((width, at) =>
    at === 0 ? Math.max(width, Math.min(natural[0] ?? 0, room * FIRST, FIRST_AT_MOST)) : width,
  );
  const fold = (may: (column: Foldable) => boolean, widths: readonly number[]): void => {
    const wanted = (): number => widths.reduce((sum, width, at) => (folded.has(at) ? sum : sum + width), 0);
    for (let at = columns.length - 1; at > 0 && wanted() > room; at--) {
      const column = columns[at];
      if (column !== undefined && may(column)) folded.add(at);
    }
    // A column dropped because of a wide one may fit again.
    for (const at of [...folded].toSorted((a, b) => a - b))
      if (may(columns[at] ?? {}) && wanted() + (widths[at] ?? 0) <= room) folded.delete(at);
  };
  fold(({ wider }) => wider === true, natural);
  fold(({ always, wider, acts }) => !(always === true || wider === true || acts === true), kept);
  return [...folded].toSorted((a, b) => a - b);
}
