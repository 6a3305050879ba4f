// Questions of a page to the API, by the name of their route; the answer's type follows from it.
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

/** Lists that come page by page; `select` makes one list of them. While filters change, the rows of the last ones stay. */
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

/** A question with a body, which changes nothing. */
export const ask = <R extends Write>(route: R, params: Params<R>, body: Body<R>) =>
  queryOptions({
    queryKey: [...segmentsOf(route, params), body],
    queryFn: () => send<Answer<R>>(addressOf(route, params), { body }),
    retry: false,
  });

/** The same when somebody presses a button: each click asks anew, nothing is kept. */
export const useAsk = <R extends Write>(
  route: R,
  params: Params<R>,
  onAnswer?: (answer: Answer<R>) => void,
) =>
  useMutation({
    mutationFn: (body: Body<R>) => send<Answer<R>>(addressOf(route, params), { body }),
    ...(onAnswer && { onSuccess: onAnswer, gcTime: 0 }),
  });
