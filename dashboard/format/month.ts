// Months are `YYYY-MM` strings in UTC, as the ledger and every limit count them.

/** Created once: creating one costs as much as printing a hundred months. */
const NAMES = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" });
/** The number of months offered. */
export const MONTHS_OFFERED = 24;

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** This month and those before it, newest first. */
export function lastMonths(count: number, now: Date = new Date()): string[] {
  const first = now.getUTCFullYear() * 12 + now.getUTCMonth();
  return Array.from({ length: count }, (_, back) => printMonth(first - back));
}

/** `November 2026 UTC`. */
export function formatMonth(month: string): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return month;
  return `${NAMES.format(at)} ${at.getUTCFullYear()} UTC`;
}

export const isMonth = (text: string): boolean => MONTH.test(text);

/** From the month's first instant to the next month's; empty if the text is not a month. */
export function monthWindow(month: string): { from?: string; to?: string } {
  const [, year, number] = MONTH.exec(month) ?? [];
  if (year === undefined) return {};
  const next = printMonth(Number(year) * 12 + Number(number));
  return { from: `${month}-01T00:00:00Z`, to: `${next}-01T00:00:00Z` };
}

const printMonth = (months: number): string =>
  `${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, "0")}`;
