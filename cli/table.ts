// Prints records for people: aligned columns, or one field per line. Colour only on a terminal, and never with
// NO_COLOR.

type Cell = string | number | boolean | null | undefined;

const coloured = (): boolean => process.stdout.isTTY && !process.env["NO_COLOR"];
const bold = (text: string): string => (coloured() ? `\u001b[1m${text}\u001b[22m` : text);

const BETWEEN = "  ";
const NONE = "–";

/** Text from outside can contain escape sequences and direction overrides, which must not reach the terminal. */
export function plain(cell: Cell): string {
  if (cell === null || cell === undefined) return NONE;
  return String(cell).replace(/[\p{Cc}\p{Cf}]/gu, "·");
}

/** The maximum line width: a terminal breaks longer lines, a pipe does not. */
const lineWidth = (): number => (process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY);

/**
 * A table of rows; `columns` maps each heading to its cell. Figures are right-aligned, amounts by their decimal
 * points. If the table is too wide for the terminal, times are cut to the minute and words are wrapped; ids and
 * figures stay whole. If that is not enough, each row becomes a record.
 */
export function table<Row>(
  rows: readonly Row[],
  columns: Record<string, (row: Row) => Cell>,
  within = lineWidth(),
): string {
  if (rows.length === 0) return "Nothing here yet.";
  const headings = Object.keys(columns);
  const whole = headings.map((heading) =>
    columnOf(
      heading,
      rows.map((row) => plain(columns[heading]?.(row))),
    ),
  );
  if (widthOf(whole) <= within) return printed(whole);
  const narrow = fitted(whole.map(toTheMinute), within);
  if (narrow !== null) return printed(narrow);
  return rows
    .map((row) => headings.map((heading) => [heading, columns[heading]?.(row)] as const))
    .map((cells) => fields(Object.fromEntries(cells.filter(([, cell]) => cell !== ""))))
    .join("\n\n");
}

interface Column {
  heading: string;
  cells: readonly string[];
  figures: boolean;
  width: number;
}

const FIGURE = /^-?\$?-?\d[\d,]*(\.\d+)?$/;
function columnOf(heading: string, cells: readonly string[]): Column {
  const told = cells.filter((cell) => cell !== NONE);
  const figures = told.length > 0 && told.every((cell) => FIGURE.test(cell));
  const amounts = figures && told.every((cell) => cell.includes("."));
  const fraction = (cell: string): number => cell.length - cell.lastIndexOf(".");
  const longest = Math.max(0, ...told.map(fraction));
  const shown = amounts
    ? cells.map((cell) => (cell === NONE ? cell : cell + " ".repeat(longest - fraction(cell))))
    : cells;
  return {
    heading,
    cells: shown,
    figures,
    width: Math.max(...[heading, ...shown].map((text) => Bun.stringWidth(text))),
  };
}

const widthOf = (columns: readonly Column[]): number =>
  columns.reduce((sum, { width }) => sum + width + BETWEEN.length, -BETWEEN.length);

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z$/;

const toTheMinute = (column: Column): Column =>
  column.figures
    ? column
    : columnOf(
        column.heading,
        column.cells.map((cell) => cell.replace(INSTANT, "$1Z")),
      );

/** Narrower columns are hard to read, and an id in brackets stays whole. */
const WORDS_LEAST = 18;

/** Wraps words, widest columns first; null if the table is still too wide. */
function fitted(columns: readonly Column[], within: number): Column[] | null {
  const isWords = ({ cells }: Column): boolean => cells.some((cell) => cell.trim().includes(" "));
  const fit = columns.map((column) => ({ ...column }));
  for (let over = widthOf(fit) - within; over > 0; over = widthOf(fit) - within) {
    const widest = fit
      .filter((column) => !column.figures && isWords(column))
      .reduce<Column | null>((most, one) => (most === null || one.width > most.width ? one : most), null);
    if (widest === null || widest.width <= WORDS_LEAST) return null;
    widest.width -= 1;
  }
  return fit;
}

function printed(columns: readonly Column[]): string {
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ figures, width }, at) => {
        const cell = cells[at] ?? "";
        const room = " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
        return figures ? room + cell : cell + room;
      })
      .join(BETWEEN)
      .trimEnd();
  const rows = (columns[0]?.cells ?? []).flatMap((_, row) => {
    const lines = columns.map(({ cells, width }) => wrapped(cells[row] ?? "", width));
    const height = Math.max(...lines.map(({ length }) => length));
    return Array.from({ length: height }, (__, at) => line(lines.map((of) => of[at] ?? "")));
  });
  return [bold(line(columns.map(({ heading }) => heading))), ...rows].join("\n");
}

const wrapped = (cell: string, width: number): string[] =>
  Bun.stringWidth(cell) <= width ? [cell] : Bun.wrapAnsi(cell, width, { hard: true, trim: true }).split("\n");

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
