// Which columns of a table stay where there is no room for all: measured on the page, decided here. Pure.

export interface Foldable {
  /** Kept however narrow the screen is: what the row is, and its amount. */
  always?: boolean;
  /** Only where there is room for more than what matters. */
  wider?: boolean;
  /** Buttons say themselves what they do: the title is for screen readers only. */
  acts?: boolean;
}

/** In pixels, one for each column. */
export interface Widths {
  /** With every cell on one line. */
  natural: readonly number[];
  /** With no word broken. */
  least: readonly number[];
}

/** What its rows are may ask for as much of a table, and for no more than these pixels. */
const FIRST = 0.4;
const FIRST_AT_MOST = 160;

/**
 * The places of columns that have no room: of those that are `wider` the last ones first, until all stand on one line; then of
 * the others that need not stay, until no word is broken; those come back that have room beside what stays. The first always stays.
 */
export function foldedOf(columns: readonly Foldable[], { natural, least }: Widths, room: number): number[] {
  const folded = new Set<number>();
  // What the row is does not shrink to one word a line: others go first.
  const kept = least.map((width, at) =>
    at === 0 ? Math.max(width, Math.min(natural[0] ?? 0, room * FIRST, FIRST_AT_MOST)) : width,
  );
  const fold = (may: (column: Foldable) => boolean, widths: readonly number[]): void => {
    const wanted = (): number => widths.reduce((sum, width, at) => (folded.has(at) ? sum : sum + width), 0);
    for (let at = columns.length - 1; at > 0 && wanted() > room; at--) {
      const column = columns[at];
      if (column !== undefined && may(column)) folded.add(at);
    }
    // What went for a wide one may have room again.
    for (const at of [...folded].toSorted((a, b) => a - b))
      if (may(columns[at] ?? {}) && wanted() + (widths[at] ?? 0) <= room) folded.delete(at);
  };
  fold(({ wider }) => wider === true, natural);
  fold(({ always, wider, acts }) => !(always === true || wider === true || acts === true), kept);
  return [...folded].toSorted((a, b) => a - b);
}
