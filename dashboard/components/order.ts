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
  const wanted = typeof sort === "string" ? sort : "";
  const down = wanted.startsWith("-");
  const column = columns.find(
    ({ title, order }) => order !== undefined && slug(title) === (down ? wanted.slice(1) : wanted),
  );
  const turn = (title: string): void => {
    const next = column?.title !== title ? `-${slug(title)}` : down ? slug(title) : undefined;
    void navigate({
      to: ".",
      search: (now: Record<string, unknown>) => ({ ...now, [SORT]: next }),
      replace: true,
      resetScroll: false,
    });
  };
  return [column === undefined ? null : { title: column.title, down }, turn];
}

const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
