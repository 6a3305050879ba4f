// Named views of Usage, the reader's own.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";

type Views = AppAnswer<"GET /orgs/{org}/usage/views">;
export type UsageView = Views["data"][number];

const viewsOf = (org: string) => ["organization", org, "usage-views"] as const;

export const usageViewsQuery = (org: string) =>
  queryOptions({
    queryKey: viewsOf(org),
    queryFn: ({ signal }) => get<Views>(api.usageViews(org), {}, signal),
  });

export const useKeepView = (org: string, onDone: () => void) =>
  useChange({
    send: (body: AppBody<"PUT /orgs/{org}/usage/views">, idempotencyKey) =>
      send<UsageView>(api.usageViews(org), { method: "PUT", body, idempotencyKey }),
    onDone,
    stale: viewsOf(org),
  });

export const useRemoveView = (org: string, view: string) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.usageView(org, view), { method: "DELETE", idempotencyKey }),
    onDone: () => {},
    stale: viewsOf(org),
  });
