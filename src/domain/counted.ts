/**
 * `1 request`, `20 requests`: a count, as a number or as it is printed, with its noun; `many` where it is not the noun and an s.
 * The one rule of one and many, here, on the command line and on the dashboard.
 */
export const counted = (count: number | bigint | string, one: string, many = `${one}s`): string =>
  `${count} ${String(count) === "1" ? one : many}`;
