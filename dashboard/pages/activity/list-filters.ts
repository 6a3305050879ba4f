// The filters of a paged list of requests with a drawer beside it.
import { useCallback, useMemo, useRef } from "react";
import { type Filter, type Filters, type SetFilters, useFilters } from "../../filters.ts";

interface ListShape extends Readonly<Record<string, Filter<string>>> {
  /** The request in the drawer. */
  req: Filter<string>;
  /** The cursor of a page of older rows; empty: the newest. */
  before: Filter<string>;
}

interface ListFilters<S extends ListShape> {
  req: Filters<S>["req"];
  /** The same object until one of them changes. */
  listed: Omit<Filters<S>, "req">;
  /** A stable function. */
  set: SetFilters<S>;
}

/** What is below the drawer does not depend on it, and is not rendered again when it opens. */
export function useListFilters<S extends ListShape>(shape: S): ListFilters<S> {
  const [filters, setFilters] = useFilters(shape);
  const { req, ...others } = filters;
  const printed = JSON.stringify(others);
  const listed = useMemo(() => JSON.parse(printed) as typeof others, [printed]);
  const latest = useRef(setFilters);
  latest.current = setFilters;
  const set = useCallback<SetFilters<S>>(
    (change, how) =>
      latest.current((now) => {
        const wanted = typeof change === "function" ? change(now) : change;
        // A changed filter shows the newest rows first.
        return "req" in wanted ? wanted : { before: "", ...wanted };
      }, how),
    [],
  );
  return { req, listed, set };
}
