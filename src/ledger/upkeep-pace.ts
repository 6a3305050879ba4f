// The pace of either store's upkeep: how much it does in one run, and how soon it continues.

/** The number of expired rows of a table deleted in one run: few, so that no request waits for it. */
export const ROWS_PER_RUN = 500;
/** Milliseconds to the next run while there is more to delete. */
export const BETWEEN_RUNS_MS = 20;
/** Limits are checked once in this many runs: a check reads every limit, and they are seldom wrong. */
export const RUNS_BETWEEN_MENDINGS = 12;
/** The number of requests without an owner that are ended together: recovery holds all their chunks in memory. */
export const ORPHANS_AT_ONCE = 200;
