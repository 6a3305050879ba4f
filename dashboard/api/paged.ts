// Lists that come page by page: "Show more" asks for the next one by the cursor of the last.
import { infiniteQueryOptions, keepPreviousData, type QueryKey } from "@tanstack/react-query";
import { get, type Query } from "./client.ts";

interface Paged<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** `select` makes one list of the pages; while filters change, the rows of the last ones stay. */
export const pagedQuery = <Row>(queryKey: QueryKey, url: string, filters: Query = {}) =>
  infiniteQueryOptions({
    queryKey: [...queryKey, filters],
    queryFn: ({ pageParam, signal }) => get<Paged<Row>>(url, { ...filters, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    placeholderData: keepPreviousData,
  });

/** What the table needs to offer the next page. */
export const moreOf = (query: {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}): { load: () => void; loading: boolean } | undefined =>
  query.hasNextPage
    ? { load: () => void query.fetchNextPage(), loading: query.isFetchingNextPage }
    : undefined;
