// The order of a table's rows, as in the address: `sort=name` ascending, `sort=-name` descending.
import { useNavigate, useSearch } from "@tanstack/react-router";

export const SORT = "sort";

interface Sortable {
  title: string;
  order?: unknown;
}

export interface Order {
  title: string;
  down: boolean;
}

/** Returns the order, and a function for a click on a header: descending, then ascending, then the server's order. */
export function useOrder(columns: readonly Sortable[]): [Order | null, (title: string) => void] {
  // Selects only this parameter: the table is not rendered again when the rest of the address changes.
  const sort: unknown = useSearch({
    strict: false,
    select: (search) => (search as Record<string, unknown>)[SORT],
  });
  const navigate = useNavigate();
  const turn = (title: string): void =>
    void navigate({
      to: ".",
      // The address has the previous click already, when the table is not rendered with it yet.
      search: (now: Record<string, unknown>) => ({
        ...now,
        [SORT]: turned(orderOf(columns, now[SORT]), title),
      }),
      replace: true,
      resetScroll: false,
    });
  return [orderOf(columns, sort), turn];
}

/** The order that the address names; null without one, or if no column has it. */
function orderOf(columns: readonly Sortable[], sort: unknown): Order | null {
  const wanted = typeof sort === "string" ? sort : "";
  const down = wanted.startsWith("-");
  const column = columns.find(
    ({ title, order }) => order !== undefined && slug(title) === (down ? wanted.slice(1) : wanted),
  );
  return column === undefined ? null : { title: column.title, down };
}

/** The parameter after a click on this column's header. */
function turned(order: Order | null, title: string): string | undefined {
  if (order?.title !== title) return `-${slug(title)}`;
  return order.down ? slug(title) : undefined;
}

const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
