// One CSV cell for spreadsheets. A text that a spreadsheet would run as a formula gets a quote in front (dashboard.md §4).
export type CsvCell = string | number | boolean | null;

/** Some spreadsheets read full-width forms as their ASCII forms. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;
/** Where a spreadsheet's list separator differs from ours, as in much of Europe, the text after it begins a new cell. */
const BEHIND_A_SEPARATOR = /([;\t][\s"']*)(?=[=+\-@＝＋－＠])/g;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** A number that JavaScript cannot represent, as `JSON.rawJSON` prints it. */
const isExact = (value: unknown): value is { rawJSON: string } => typeof value === "object" && value !== null;

/** The cell as it appears between two commas. Numbers are unchanged; null is an empty cell; no cell runs as a formula. */
export function cell(value: CsvCell): string {
  if (value === null) return "";
  const text = isExact(value) ? value.rawJSON : String(value);
  const safe = NUMBER.test(text) ? text : harmlessCell(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The text changed so that no spreadsheet runs any of it. */
export const harmlessCell = (text: string): string =>
  (FORMULA.test(text) ? `'${text}` : text).replaceAll(BEHIND_A_SEPARATOR, "$1'");
