// Research Mode: the organization's entitlements, and the models that take one.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
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
  useChange({
    send: (body: Question, idempotencyKey) => send<Entitlement>(api.research(org), { body, idempotencyKey }),
    onDone,
    stale: entitlementsOf(org),
  });

export const useWithdraw = (org: string, id: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) => send<Entitlement>(api.withdraw(org, id), { idempotencyKey }),
    onDone,
    stale: entitlementsOf(org),
  });
