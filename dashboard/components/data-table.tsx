// The one table: a link in the first cell, figures to the right, order by header, pages by cursor; narrow screens keep
// the columns marked `always`. The order is in the address, and so are the filters that can be cleared when nothing
// matches them.
import { Button, Group, Paper, Table, VisuallyHidden } from "@mantine/core";
import { useResizeObserver } from "@mantine/hooks";
import type { ReactNode } from "react";
import { tableTexts } from "./texts.ts";
import { NoMatch, Sentence } from "./no-match.tsx";
import { type Order, useOrder } from "./order.ts";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand on the right. */
  figures?: boolean;
  /** Kept on narrow screens. */
  always?: boolean;
  /** Only where there is room for more than what matters. */
  wider?: boolean;
  /** Buttons say themselves what they do: the title is for screen readers only. */
  acts?: boolean;
  /** Makes the header a button that orders the rows on screen by this. */
  order?: (row: Row) => string | number;
}

interface DataTableProps<Row> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** An extra for the pointer; the first cell's link is the way for everybody. */
  onOpen?: (row: Row) => void;
  /** Loads the next page; absent on the last. */
  more?: { load: () => void; loading: boolean } | undefined;
  foot?: ReactNode;
  /** Said where there are no rows; otherwise that nothing matches. */
  none?: string;
}

/** Links are readable on it, in the dark, too. */
const HOVERED = "light-dark(var(--mantine-color-gray-1), var(--mantine-color-dark-6))";

export function DataTable<Row>({
  label,
  rows,
  columns,
  rowKey,
  onOpen,
  more,
  foot,
  none,
}: DataTableProps<Row>) {
  const [order, turn] = useOrder(columns);
  const by = columns.find(({ title }) => title === order?.title)?.order;
  const shown = by === undefined ? rows : sorted(rows, by, order?.down ?? false);
  const [box, { width }] = useResizeObserver<HTMLDivElement>();
  const [table, { width: wanted }] = useResizeObserver<HTMLTableElement>();
  return (
    <Paper withBorder>
      <div
        ref={box}
        className="table-scroll"
        // Only what fits can have a head that stays: a box that scrolls sideways would keep it for itself.
        data-fits={width > 0 && wanted <= Math.ceil(width) ? "" : undefined}
        role="region"
        aria-label={label}
        tabIndex={0}
      >
        <Table
          ref={table}
          verticalSpacing="xs"
          highlightOnHover={onOpen !== undefined}
          highlightOnHoverColor={HOVERED}
          fz="sm"
        >
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Head key={column.title} column={column} order={order} turn={turn} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((row) => (
              <Table.Tr
                key={rowKey(row)}
                data-opens={onOpen === undefined ? undefined : ""}
                onClick={(event) => {
                  if (!(event.target as Element).closest("a, button, input")) onOpen?.(row);
                }}
              >
                {columns.map((column) => (
                  <Table.Td
                    key={column.title}
                    className={cellClass(column)}
                    ta={column.figures || column.acts ? "right" : "left"}
                  >
                    {column.cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
          {foot !== undefined && <Table.Tfoot>{foot}</Table.Tfoot>}
        </Table>
      </div>
      {more !== undefined && (
        <Group justify="center" p="xs">
          <Button variant="subtle" onClick={more.load} loading={more.loading}>
            {tableTexts.more}
          </Button>
        </Group>
      )}
      {shown.length === 0 && (none === undefined ? <NoMatch /> : <Sentence>{none}</Sentence>)}
    </Paper>
  );
}

function Head<Row>({
  column,
  order,
  turn,
}: {
  column: Column<Row>;
  order: Order | null;
  turn: (title: string) => void;
}) {
  const { title, figures, acts } = column;
  const mine = order?.title === title;
  return (
    <Table.Th
      className={cellClass(column)}
      ta={figures ? "right" : "left"}
      aria-sort={mine ? (order.down ? "descending" : "ascending") : undefined}
    >
      {acts ? (
        <VisuallyHidden>{title}</VisuallyHidden>
      ) : column.order === undefined ? (
        title
      ) : (
        <button type="button" className="sort" onClick={() => turn(title)}>
          {title} <span aria-hidden="true">{mine ? (order.down ? "↓" : "↑") : "↕"}</span>
        </button>
      )}
    </Table.Th>
  );
}

const cellClass = <Row,>({ figures, always, wider }: Column<Row>): string =>
  `${figures ? "figures" : ""} ${wider ? "wider-only" : always ? "" : "wide-only"}`.trim();

function sorted<Row>(rows: readonly Row[], by: (row: Row) => string | number, down: boolean): Row[] {
  const compare = (a: Row, b: Row): number => {
    const [left, right] = [by(a), by(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  };
  return [...rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
}
