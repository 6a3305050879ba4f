// How much the upkeep of either store does at once, and how soon it goes on.

/** So many expired rows of a table are deleted in one run: few, so that no request waits behind it. */
export const ROWS_PER_RUN = 500;
/** Milliseconds to the next run while there is more to delete. */
export const BETWEEN_RUNS_MS = 20;
/** Limits are looked at once in so many runs: it looks at every one, and seldom is one wrong. */
export const RUNS_BETWEEN_MENDINGS = 12;
/** Requests without an owner that are ended together: recovery of many holds their chunks in memory. */
export const ORPHANS_AT_ONCE = 200;
