// The number of rows on a page of a list.

/** The default. */
export const PAGE_ROWS = 50;
/** The maximum; also the page length of files that are written as they are read. */
export const PAGE_ROWS_MAX = 200;
