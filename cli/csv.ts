// CSV as in RFC 4180, safe to open in a spreadsheet: a text that a spreadsheet would run as a formula gets an
// apostrophe.
import { harmlessCell } from "../src/domain/csv.ts";

/** Lines are separated by CRLF; the last one has none. */
export function csv(header: string[], rows: (string | number)[][]): string {
  return [header, ...rows].map((row) => row.map(printCell).join(",")).join("\r\n");
}

function printCell(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  const safe = harmlessCell(cell);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
