// How many rows a page of a list has.

/** Where nobody says it. */
export const PAGE_ROWS = 50;
/** At most; pages of a file that is written as it is read are as long. */
export const PAGE_ROWS_MAX = 200;
