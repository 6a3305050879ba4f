// A damaged time is the oldest one: it hides no row of a list, and each page still has a next one.
const NEWEST_MS = 9_007_199_254_740_990;

/** In SQL, of a column of milliseconds. */
export const knownTime = (column: string): string =>
  `(CASE WHEN ${column} BETWEEN 0 AND ${NEWEST_MS} THEN ${column} ELSE 0 END)`;

/** The same of a time that was read. */
export const knownMs = (atMs: number): number => (atMs >= 0 && atMs <= NEWEST_MS ? atMs : 0);
