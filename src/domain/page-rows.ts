// The number of rows on a page of a list.

/** The default. */
export const PAGE_ROWS = 50;
/** The maximum; also the page length of files that are written as they are read. */
export const PAGE_ROWS_MAX = 200;
/**
 * Default and maximum of the operator API's lists that came whole before they had pages
 * (docs/decisions/0094-lists-that-came-whole.md).
 */
export const RECORDS_MAX = 1_000;
