// Reads of the API by route name; the type of the answer follows from it.
import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation } from "@tanstack/react-query";
import { get, type Query, send } from "./client.ts";
import {
  addressOf,
  type Answer,
  type Asked,
  type Body,
  type Params,
  type Read,
  type Row,
  segmentsOf,
  type Write,
} from "./routes.ts";

export const read = <R extends Read>(route: R, params: Params<R>, asked: Asked<R> = {}) =>
  queryOptions({
    queryKey: [...segmentsOf(route, params), asked],
    queryFn: ({ signal }) => get<Answer<R>>(addressOf(route, params, asked), signal),
  });

/** How many pages a search reads by itself after one that found nothing. */
const FURTHER = 9;

/** A page of a search that may end before it found anything: goes on to the first page with a row, up to a limit. */
export const readFound = <R extends Read>(route: R, params: Params<R>, asked: Asked<R> = {}) =>
  queryOptions({
    queryKey: [...segmentsOf(route, params), asked],
    queryFn: async ({ signal }) => {
      const page = (cursor?: string) =>
        get<Answer<R> & Paged<Row<R>>>(
          addressOf(route, params, (cursor === undefined ? asked : { ...asked, cursor }) as Asked<R>),
          signal,
        );
      let found = await page();
      for (let more = 0; more < FURTHER && found.data.length === 0 && found.next_cursor !== null; more += 1)
        found = await page(found.next_cursor);
      return found;
    },
  });

/** Lists that come in pages; `select` joins them into one list. While filters change, the old rows stay. */
export const readPages = <R extends Read>(route: R, params: Params<R>, asked: Asked<R> = {}) =>
  infiniteQueryOptions({
    queryKey: [...segmentsOf(route, params), "pages", asked],
    queryFn: ({ pageParam, signal }) =>
      get<Paged<Row<R>>>(addressOf(route, params, { ...asked, cursor: pageParam } as Query), signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    placeholderData: keepPreviousData,
  });

interface Paged<One> {
  data: One[];
  next_cursor: string | null;
}

/** What the table needs to offer the next page. */
export const moreOf = (query: {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}): { load: () => void; loading: boolean } | undefined =>
  query.hasNextPage
    ? { load: () => void query.fetchNextPage(), loading: query.isFetchingNextPage }
    : undefined;

/** A read with a request body; it changes nothing. */
export const ask = <R extends Write>(route: R, params: Params<R>, body: Body<R>) =>
  queryOptions({
    queryKey: [...segmentsOf(route, params), body],
    queryFn: () => send<Answer<R>>(addressOf(route, params), { body }),
    retry: false,
  });

/** The same on a button press: each click sends a new request, nothing is cached. */
export const useAsk = <R extends Write>(
  route: R,
  params: Params<R>,
  onAnswer?: (answer: Answer<R>) => void,
) =>
  useMutation({
    mutationFn: (body: Body<R>) => send<Answer<R>>(addressOf(route, params), { body }),
    ...(onAnswer && { onSuccess: onAnswer, gcTime: 0 }),
  });
