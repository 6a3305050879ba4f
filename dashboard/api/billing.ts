// Credits: the arithmetic, open holds, the ledger, orders and automatic top-up.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { get, type Query, send } from "./client.ts";
import { api } from "./paths.ts";

export type Billing = AppAnswer<"GET /orgs/{org}/billing">;
type LedgerPage = AppAnswer<"GET /orgs/{org}/billing/ledger">;
export type LedgerEntry = LedgerPage["data"][number];
export type OpenHold = AppAnswer<"GET /orgs/{org}/billing/holds">["data"][number];
export type Order = AppAnswer<"POST /orgs/{org}/billing/orders">;
export type AutoTopUp = AppAnswer<"GET /orgs/{org}/billing/auto-top-up">;

const billingOf = (org: string) => ["organization", org, "billing"] as const;

export const billingQuery = (org: string) =>
  queryOptions({
    queryKey: billingOf(org),
    queryFn: ({ signal }) => get<Billing>(api.billing(org), {}, signal),
    refetchInterval: 10_000,
  });

export const holdsQuery = (org: string) =>
  queryOptions({
    queryKey: [...billingOf(org), "holds"],
    queryFn: ({ signal }) => get<AppAnswer<"GET /orgs/{org}/billing/holds">>(api.holds(org), {}, signal),
    refetchInterval: 10_000,
  });

export const ledgerQuery = (org: string, filters: Query) =>
  infiniteQueryOptions({
    queryKey: [...billingOf(org), "ledger", filters],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      get<LedgerPage>(api.ledger(org), { ...filters, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

export const autoTopUpQuery = (org: string) =>
  queryOptions({
    queryKey: [...billingOf(org), "auto"],
    queryFn: ({ signal }) => get<AutoTopUp>(api.autoTopUp(org), {}, signal),
  });

const ASKED_EVERY_MS = 2_000;

/** One order, asked again until the payment service has spoken. */
export const orderQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["organization", org, "order", id],
    queryFn: ({ signal }) => get<Order>(api.order(org, id), {}, signal),
    refetchInterval: ({ state: { data } }) => (data?.state === "open" ? ASKED_EVERY_MS : false),
  });

type OrderTerms = AppBody<"POST /orgs/{org}/billing/orders"> & { idempotencyKey: string };
export const useOrder = (org: string, onOrder: (order: Order) => void) =>
  useBillingChange(
    org,
    ({ idempotencyKey, ...body }: OrderTerms) => send<Order>(api.orders(org), { body, idempotencyKey }),
    onOrder,
  );

type AutoTerms = AppBody<"PUT /orgs/{org}/billing/auto-top-up">;
export const useAutoTopUp = (org: string, onDone: () => void) =>
  useBillingChange(
    org,
    (body: AutoTerms) => send<AutoTopUp>(api.autoTopUp(org), { method: "PUT", body }),
    onDone,
  );

export const useRetryAutoTopUp = (org: string) =>
  useBillingChange(
    org,
    () => send<Order>(api.retryAutoTopUp(org)),
    () => {},
  );

function useBillingChange<Terms, Answer>(
  org: string,
  change: (terms: Terms) => Promise<Answer>,
  onDone: (answer: Answer) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: billingOf(org) }),
  });
}
