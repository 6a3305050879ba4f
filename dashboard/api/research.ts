// Research Mode: the organization's entitlements, and the models that take one.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";

type Entitlements = AppAnswer<"GET /orgs/{org}/research">;
export type Entitlement = Entitlements["data"][number];
export type Question = AppBody<"POST /orgs/{org}/research">;

const entitlementsOf = (org: string) => ["organization", org, "research"] as const;

/** Asked again often: it shows whether the routes are live now. */
export const entitlementsQuery = (org: string) =>
  queryOptions({
    queryKey: entitlementsOf(org),
    queryFn: ({ signal }) => get<Entitlements>(api.research(org), {}, signal),
    refetchInterval: 5_000,
  });

export const researchModelsQuery = (org: string) =>
  queryOptions({
    queryKey: ["organization", org, "models"],
    queryFn: ({ signal }) => get<AppAnswer<"GET /orgs/{org}/models">>(api.models(org), {}, signal),
    select: ({ data }) => data.filter(({ tier }) => tier === "research"),
  });

export const useAsk = (org: string, onDone: () => void) =>
  useChange(org, onDone, ({ idempotencyKey, ...body }: Question & { idempotencyKey: string }) =>
    send<Entitlement>(api.research(org), { body, idempotencyKey }),
  );

export const useWithdraw = (org: string, onDone: () => void) =>
  useChange(org, onDone, ({ id }: Entitlement) => send<Entitlement>(api.withdraw(org, id)));

function useChange<Terms>(org: string, onDone: () => void, change: (terms: Terms) => Promise<Entitlement>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: entitlementsOf(org) }),
  });
}
