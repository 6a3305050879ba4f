// One cell of a CSV for spreadsheets. A text that a spreadsheet would run as a formula gets a quote in front (dashboard.md
// §4).
export type Cell = string | number | boolean | null;

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** A number that JavaScript cannot hold, as `JSON.rawJSON` prints it. */
const isExact = (value: unknown): value is { rawJSON: string } => typeof value === "object" && value !== null;

export function cell(value: Cell): string {
  if (value === null) return "";
  const text = isExact(value) ? value.rawJSON : String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
