// Records as people read them: aligned columns, or one field per line. Colour only on a terminal, never with NO_COLOR.

type Cell = string | number | boolean | null | undefined;

const coloured = (): boolean => process.stdout.isTTY && !process.env["NO_COLOR"];
const bold = (text: string): string => (coloured() ? `\u001b[1m${text}\u001b[22m` : text);

const BETWEEN = "  ";

/** Text from outside can hold escape sequences and direction overrides: a terminal must not obey them. */
export function plain(cell: Cell): string {
  if (cell === null || cell === undefined) return "–";
  return String(cell).replace(/[\p{Cc}\p{Cf}]/gu, "·");
}

/** How wide a line may be: a terminal breaks a longer one, whoever reads from a pipe does not. */
const lineWidth = (): number => (process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY);

/** A table of rows; `columns` maps each heading to its cell. Where it is too wide for the terminal, one record per row. */
export function table<Row>(
  rows: readonly Row[],
  columns: Record<string, (row: Row) => Cell>,
  within = lineWidth(),
): string {
  if (rows.length === 0) return "Nothing here yet.";
  const headings = Object.keys(columns);
  const lines = rows.map((row) => Object.values(columns).map((cell) => plain(cell(row))));
  const widths = headings.map((heading, at) =>
    Math.max(Bun.stringWidth(heading), ...lines.map((line) => Bun.stringWidth(line[at] ?? ""))),
  );
  const wide = widths.reduce((sum, width) => sum + width + BETWEEN.length, -BETWEEN.length);
  if (wide > within)
    return rows
      .map((row) => headings.map((heading) => [heading, columns[heading]?.(row)] as const))
      .map((cells) => fields(Object.fromEntries(cells.filter(([, cell]) => cell !== ""))))
      .join("\n\n");
  const print = (cells: string[]): string =>
    cells
      .map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - Bun.stringWidth(cell)))
      .join(BETWEEN)
      .trimEnd();
  return [bold(print(headings)), ...lines.map(print)].join("\n");
}

/** One record: a line per field, names aligned. */
export function fields(record: Record<string, Cell>): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .map(([name, cell]) => `${bold(name.padEnd(width))}  ${plain(cell)}`)
    .join("\n");
}

/** `5.000000000` → `$5.00`, `0.000133500` → `$0.0001335`: exact, with at least two places. */
export function dollars(usd: string | null): string | null {
  if (usd === null) return null;
  const short = usd.replace(/0+$/, "");
  const places = short.length - short.indexOf(".") - 1;
  return `$${places >= 2 ? short : short + "0".repeat(2 - places)}`;
}
