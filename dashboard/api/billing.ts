// Credits: the arithmetic, open holds, the ledger, orders and automatic top-up.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, type Query, send } from "./client.ts";
import { pagedQuery } from "./paged.ts";
import { api } from "./paths.ts";

export type Billing = AppAnswer<"GET /orgs/{org}/billing">;
export type LedgerEntry = AppAnswer<"GET /orgs/{org}/billing/ledger">["data"][number];
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

export const holdsQuery = (org: string) => ({
  ...pagedQuery<OpenHold>([...billingOf(org), "holds"], api.holds(org)),
  refetchInterval: 10_000,
});

export const ledgerQuery = (org: string, filters: Query) =>
  pagedQuery<LedgerEntry>([...billingOf(org), "ledger"], api.ledger(org), filters);

export const ordersQuery = (org: string) => pagedQuery<Order>([...billingOf(org), "orders"], api.orders(org));

const ASKED_EVERY_MS = 2_000;

/** One order, asked again until the payment service has spoken. */
export const orderQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["organization", org, "order", id],
    queryFn: ({ signal }) => get<Order>(api.order(org, id), {}, signal),
    refetchInterval: ({ state: { data } }) => (data?.state === "open" ? ASKED_EVERY_MS : false),
  });

export const autoTopUpQuery = (org: string) =>
  queryOptions({
    queryKey: [...billingOf(org), "auto"],
    queryFn: ({ signal }) => get<AutoTopUp>(api.autoTopUp(org), {}, signal),
  });

export const useOrder = (org: string, onOrder: (order: Order) => void) =>
  useChange({
    send: (body: AppBody<"POST /orgs/{org}/billing/orders">, idempotencyKey) =>
      send<Order>(api.orders(org), { body, idempotencyKey }),
    onDone: onOrder,
    stale: billingOf(org),
  });

export const useAutoTopUp = (org: string, onDone: (saved: AutoTopUp) => void) =>
  useChange({
    send: (body: AppBody<"PUT /orgs/{org}/billing/auto-top-up">, idempotencyKey) =>
      send<AutoTopUp>(api.autoTopUp(org), { method: "PUT", body, idempotencyKey }),
    onDone,
    stale: billingOf(org),
  });

export const useRetryAutoTopUp = (org: string) =>
  useChange({
    send: (_: null, idempotencyKey) => send<Order>(api.retryAutoTopUp(org), { idempotencyKey }),
    onDone: () => {},
    stale: billingOf(org),
  });

export const useRemoveCard = (org: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) => send(api.card(org), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: billingOf(org),
  });
