/**
 * Formats a count with its noun: `1 request`, `20 requests`. `many` is the plural if it is not the noun and an s. The one
 * pluralization rule, here, on the command line and on the dashboard.
 */
export const counted = (count: number | bigint | string, one: string, many = `${one}s`): string =>
  `${count} ${String(count) === "1" ? one : many}`;
