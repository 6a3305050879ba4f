// The order of a table's rows, as the address has it: `sort=name` upwards, `sort=-name` downwards.
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

/** The order and what a click on a header does: down, then up, then as the server has it. */
export function useOrder(columns: readonly Sortable[]): [Order | null, (title: string) => void] {
  // Of the address only this: a table is not drawn again when something else in it changes.
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
