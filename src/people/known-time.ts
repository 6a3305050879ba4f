// A damaged time counts as the oldest: it hides no row of a list, and every page still has a next one.
const NEWEST_MS = 9_007_199_254_740_990;

/** SQL expression for a column in milliseconds. */
export const knownTime = (column: string): string =>
  `(CASE WHEN ${column} BETWEEN 0 AND ${NEWEST_MS} THEN ${column} ELSE 0 END)`;

/** The same for a time that was read. */
export const knownMs = (atMs: number): number => (atMs >= 0 && atMs <= NEWEST_MS ? atMs : 0);
