// One cell of a CSV for spreadsheets. A text that a spreadsheet would run as a formula gets a quote in front (dashboard.md
// §4).
export type CsvCell = string | number | boolean | null;

/** Some read the wide forms as the narrow ones. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;
/** Where a spreadsheet's list separator is another one than ours, as in much of Europe, what is behind it begins a cell. */
const BEHIND_A_SEPARATOR = /([;\t][\s"']*)(?=[=+\-@＝＋－＠])/g;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** A number that JavaScript cannot hold, as `JSON.rawJSON` prints it. */
const isExact = (value: unknown): value is { rawJSON: string } => typeof value === "object" && value !== null;

/** The cell as it stands between two commas. Numbers stand as they are; null is an empty cell; no cell runs as a formula. */
export function cell(value: CsvCell): string {
  if (value === null) return "";
  const text = isExact(value) ? value.rawJSON : String(value);
  const safe = NUMBER.test(text) ? text : harmlessCell(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** As no spreadsheet runs any of it. */
export const harmlessCell = (text: string): string =>
  (FORMULA.test(text) ? `'${text}` : text).replaceAll(BEHIND_A_SEPARATOR, "$1'");
