// CSV for spreadsheets, written page by page as it is read: the same filter as the list, RFC 3339 times, money as decimal
// strings (dashboard.md §4).
import type { AskedWindow } from "../reporting/windows.ts";
import { type CsvCell, cell } from "../domain/csv.ts";

type Page<Row> = (cursor: string | undefined) => Promise<{ data: Row[]; next_cursor: string | null }>;

export interface CsvTable<Row> {
  /** Contains organization and range. */
  name: string;
  columns: Record<string, (row: Row) => CsvCell>;
  page: Page<Row>;
}

/** `activity-org_…-24h`: content, organization and the requested window. */
export function windowFileName(
  what: string,
  org: string | undefined,
  { range, from, to }: AskedWindow,
): string {
  const until = to === undefined ? [] : from === undefined ? ["until", to] : [to];
  const window = range === undefined ? [...(from === undefined ? [] : [from]), ...until] : [range];
  return [what, org ?? "all", ...(window.length === 0 ? ["all"] : window)].join("-");
}

export interface CsvFile {
  name: string;
  lines: AsyncGenerator<string, void>;
}

/** Rejects if the first page cannot be read: the status must not be 200 then. */
export async function csvFile<Row>({ name, columns, page }: CsvTable<Row>): Promise<CsvFile> {
  return { name, lines: linesOf(columns, { first: await page(undefined), page }) };
}

async function* linesOf<Row>(
  columns: CsvTable<Row>["columns"],
  { first, page }: { first: Awaited<ReturnType<Page<Row>>>; page: Page<Row> },
): AsyncGenerator<string, void> {
  const names = Object.keys(columns);
  yield `${names.join(",")}\r\n`;
  let read = first;
  for (;;) {
    const text = read.data.map((row) => names.map((name) => cell(columns[name]?.(row) ?? null)).join(","));
    if (text.length > 0) yield `${text.join("\r\n")}\r\n`;
    if (read.next_cursor === null) return;
    read = await page(read.next_cursor);
  }
}
