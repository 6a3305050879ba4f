// The one table component: a link in the first cell, figures right-aligned by their decimal points, sorting by
// header, paging by cursor. Columns that do not fit are folded until the reader asks for them; those marked `always`
// stay. The order is in the address, and so are the filters, which can be cleared if nothing matches them.
import { Button, Group, Paper, Table, Text, VisuallyHidden } from "@mantine/core";
import { useMergedRef, useResizeObserver } from "@mantine/hooks";
import {
  createContext,
  type CSSProperties,
  memo,
  type ReactNode,
  use,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { formatCount } from "../format/count.ts";
import { tableTexts } from "./texts.ts";
import { useDrawnRows } from "./drawn-rows.ts";
import type { Foldable } from "./folded.ts";
import { sameRows, useFitted } from "./fitted.ts";
import { NoMatch, Sentence } from "./no-match.tsx";
import { type Order, useOrder } from "./order.ts";

export interface Column<Row> extends Foldable {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Figures are right-aligned. */
  figures?: boolean;
  /** On a narrow screen this column is hidden, because the first cell shows it, too. */
  saidFirst?: boolean;
  /** Makes the header a button that sorts the loaded rows by this. */
  order?: (row: Row) => string | number;
  /** Below the rows: if any column has one, the table ends with a row of totals. */
  total?: ReactNode;
}

interface DataTableProps<Row> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** A shortcut for the mouse; the first cell's link is the accessible way. */
  onOpen?: (row: Row) => void;
  /** Loads the next page; missing on the last. */
  more?: { load: () => void; loading: boolean } | undefined;
  /** Shown if there are no rows; default: that there is nothing yet, or that nothing matches. */
  none?: string;
  /** One line per row: longer text is cut, and shown in full on hover. */
  dense?: boolean;
}

/** Titles of the folded columns. */
const Folded = createContext<ReadonlySet<string>>(new Set());

/** Shows a folded column's content in another cell. */
export const WhereFolded = ({ title, children }: { title: string; children: ReactNode }) =>
  use(Folded).has(title) ? children : null;

/** Links stay readable on it, in dark mode, too. */
const HOVERED = "light-dark(var(--mantine-color-gray-1), var(--mantine-color-dark-6))";

export function DataTable<Row>({
  label,
  rows,
  columns,
  rowKey,
  onOpen,
  more,
  none,
  dense = false,
}: DataTableProps<Row>) {
  const [order, turn] = useOrder(columns);
  const by = columns.find(({ title }) => title === order?.title)?.order;
  const shown = by === undefined ? rows : sorted(rows, by, order?.down ?? false);
  const { drawn, drawing } = useDrawnRows(shown);
  const [box, { width }] = useResizeObserver<HTMLDivElement>();
  const [observed, { width: wanted }] = useResizeObserver<HTMLTableElement>();
  const { table, folded } = useFitted(columns, drawing ? drawn : rows, width);
  const [unfolded, unfold] = useState(false);
  const open = useSame(onOpen);
  const classes = columns.map((column, at) => cellClass(column, !unfolded && folded.includes(at)));
  const gone = useTitles(columns, unfolded ? NONE : folded);
  return (
    <Paper withBorder className="table-frame">
      <div
        ref={box}
        className={dense ? "table-scroll dense" : "table-scroll"}
        // Only a table that fits can have a sticky head: in a box that scrolls sideways it would stick to the box.
        data-fits={width > 0 && wanted <= Math.ceil(width) ? "" : undefined}
        role="region"
        aria-label={label}
        aria-busy={drawing || undefined}
        tabIndex={0}
      >
        <Table
          ref={useMergedRef(table, observed)}
          verticalSpacing={6}
          highlightOnHover={onOpen !== undefined}
          highlightOnHoverColor={HOVERED}
          fz="sm"
        >
          <Table.Thead>
            <Table.Tr>
              {columns.map((column, at) => (
                <Head
                  key={column.title}
                  column={column}
                  className={classes[at] ?? ""}
                  order={order}
                  turn={turn}
                />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Folded value={gone}>
              <Rows rows={drawn} columns={columns} classes={classes} rowKey={rowKey} onOpen={open} />
            </Folded>
          </Table.Tbody>
          {columns.some(({ total }) => total !== undefined) && <Totals columns={columns} classes={classes} />}
        </Table>
      </div>
      <More
        rows={more}
        ordered={order === null || more === undefined ? null : shown.length}
        columns={folded.length > 0 && shown.length > 0 ? { folded: folded.length, unfolded, unfold } : null}
      />
      {shown.length === 0 && (none === undefined ? <NoMatch /> : <Sentence>{none}</Sentence>)}
    </Paper>
  );
}

interface MoreProps {
  rows: DataTableProps<never>["more"];
  /** The number of rows in an order other than the server's, while the server has more rows. */
  ordered: number | null;
  /** The number of folded columns, and whether they are shown anyway. */
  columns: { folded: number; unfolded: boolean; unfold: (shown: boolean) => void } | null;
}

/** Offers what is not on screen: the next rows, the folded columns. */
function More({ rows, ordered, columns }: MoreProps) {
  if (rows === undefined && columns === null) return null;
  return (
    <Group justify="center" p={rows === undefined ? 2 : "xs"}>
      {ordered !== null && (
        <Text size="xs" c="dimmed" role="status">
          {tableTexts.ordered(formatCount(ordered))}
        </Text>
      )}
      {rows !== undefined && (
        <Button variant="subtle" onClick={rows.load} loading={rows.loading}>
          {tableTexts.more}
        </Button>
      )}
      {columns !== null && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          onClick={() => columns.unfold(!columns.unfolded)}
        >
          {columns.unfolded ? tableTexts.fewerColumns : tableTexts.columns(columns.folded)}
        </Button>
      )}
    </Group>
  );
}

const Totals = <Row,>({ columns, classes }: Pick<RowsProps<Row>, "columns" | "classes">) => (
  <Table.Tfoot>
    <Table.Tr fw={700}>
      {columns.map(({ title, figures, total }, at) => (
        <Table.Td key={title} className={classes[at]} style={fractionOf(at)} ta={figures ? "right" : "left"}>
          {total}
        </Table.Td>
      ))}
    </Table.Tr>
  </Table.Tfoot>
);

interface RowsProps<Row> extends Pick<DataTableProps<Row>, "rows" | "columns" | "rowKey"> {
  classes: readonly string[];
  /** A stable reference, or missing. */
  onOpen: ((row: Row) => void) | undefined;
}

/** Rendered again only if rows, columns or folding change: not for a drawer that opens beside them. */
const Rows = memo(
  RowsOf,
  (before, now) =>
    before.columns === now.columns &&
    before.onOpen === now.onOpen &&
    sameRows(before.rows, now.rows) &&
    sameRows(before.classes, now.classes),
) as typeof RowsOf;

function RowsOf<Row>({ rows, columns, classes, rowKey, onOpen }: RowsProps<Row>): ReactNode {
  return rows.map((row) => (
    <Table.Tr
      key={rowKey(row)}
      data-opens={onOpen === undefined ? undefined : ""}
      onClick={(event) => {
        if (!(event.target as Element).closest("a, button, input")) onOpen?.(row);
      }}
    >
      {columns.map((column, at) => (
        <Table.Td
          key={column.title}
          className={classes[at]}
          style={fractionOf(at)}
          ta={column.figures || column.acts ? "right" : "left"}
        >
          {column.cell(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  ));
}

function Head<Row>({
  column,
  className,
  order,
  turn,
}: {
  column: Column<Row>;
  className: string;
  order: Order | null;
  turn: (title: string) => void;
}) {
  const { title, figures, acts } = column;
  const mine = order?.title === title;
  return (
    <Table.Th
      className={className}
      ta={figures ? "right" : "left"}
      aria-sort={mine ? (order.down ? "descending" : "ascending") : undefined}
    >
      {acts ? (
        <VisuallyHidden>{title}</VisuallyHidden>
      ) : column.order === undefined ? (
        title
      ) : (
        <button
          type="button"
          className="sort"
          data-figures={figures || undefined}
          onClick={() => turn(title)}
        >
          {title}
          <span aria-hidden="true" className="sort-mark">
            {mine ? (order.down ? "↓" : "↑") : "↕"}
          </span>
        </button>
      )}
    </Table.Th>
  );
}

const NONE: readonly number[] = [];

/** The titles of the columns at these indexes; the same set as long as the titles are the same. */
function useTitles<Row>(columns: readonly Column<Row>[], places: readonly number[]): ReadonlySet<string> {
  const titles = JSON.stringify(places.map((at) => columns[at]?.title));
  return useMemo(() => new Set(JSON.parse(titles) as string[]), [titles]);
}

/** A stable function that calls the latest `act`; undefined if there is none. */
function useSame<Row>(act: ((row: Row) => void) | undefined): ((row: Row) => void) | undefined {
  const latest = useRef(act);
  useLayoutEffect(() => {
    latest.current = act;
  });
  const [same] = useState(() => (row: Row) => latest.current?.(row));
  return act && same;
}

const cellClass = <Row,>({ figures, saidFirst }: Column<Row>, isFolded: boolean): string =>
  `${figures ? "figures" : ""} ${saidFirst ? "wide-only" : ""} ${isFolded ? "folded" : ""}`.trim();

/** The width of a column's fractions, as `useFitted` measured it. */
const fractionOf = (at: number): CSSProperties =>
  ({ "--fraction": `var(--fraction-${at})` }) as CSSProperties;

function sorted<Row>(rows: readonly Row[], by: (row: Row) => string | number, down: boolean): Row[] {
  const compare = (a: Row, b: Row): number => {
    const [left, right] = [by(a), by(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  };
  return [...rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
}
