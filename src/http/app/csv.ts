// CSV for spreadsheets, written page by page as it is read: the same filter as the list, RFC 3339 times, money as decimal
// strings (dashboard.md §4).
import { type Cell, cell } from "../../contract/csv.ts";

type Page<Row> = (cursor: string | undefined) => Promise<{ data: Row[]; next_cursor: string | null }>;

export interface Table<Row> {
  /** Carries organization and range. */
  name: string;
  columns: Record<string, (row: Row) => Cell>;
  page: Page<Row>;
}

/** Rejects when the first page cannot be read: the status must not be 200 then. */
export async function csvResponse<Row>({ name, columns, page }: Table<Row>): Promise<Response> {
  const encoder = new TextEncoder();
  const first = await page(undefined);
  const lines = linesOf(columns, { first, page });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => {
      await lines.return(undefined);
    },
  });
  const file = name.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 120);
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${file}.csv"`,
      "cache-control": "no-store",
    },
  });
}

async function* linesOf<Row>(
  columns: Table<Row>["columns"],
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
