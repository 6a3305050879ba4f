// Alerts of an organization: rules, where they go, and what was delivered.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, send } from "./client.ts";
import { pagedQuery } from "./paged.ts";
import { api } from "./paths.ts";

export type AlertRule = AppAnswer<"GET /orgs/{org}/alerts/rules">["data"][number];
export type AlertChannel = AppAnswer<"GET /orgs/{org}/alerts/channels">["data"][number];
export type AlertDelivery = AppAnswer<"GET /orgs/{org}/alerts/deliveries">["data"][number];
export type RuleInput = AppBody<"POST /orgs/{org}/alerts/rules">;

const alertsOf = (org: string) => ["organization", org, "alerts"] as const;

export const rulesQuery = (org: string) =>
  queryOptions({
    queryKey: [...alertsOf(org), "rules"],
    queryFn: ({ signal }) => get<AppAnswer<"GET /orgs/{org}/alerts/rules">>(api.alertRules(org), {}, signal),
  });
export const channelsQuery = (org: string) =>
  queryOptions({
    queryKey: [...alertsOf(org), "channels"],
    queryFn: ({ signal }) =>
      get<AppAnswer<"GET /orgs/{org}/alerts/channels">>(api.alertChannels(org), {}, signal),
  });
export const deliveriesQuery = (org: string) => ({
  ...pagedQuery<AlertDelivery>([...alertsOf(org), "deliveries"], api.alertDeliveries(org)),
  refetchInterval: 10_000,
});

interface RuleTerms {
  rule: RuleInput;
  /** What it changes; null makes a new one. */
  on: Pick<AlertRule, "id" | "version"> | null;
}

export const useSaveRule = (org: string, onDone: () => void) =>
  useChange({
    send: ({ rule, on }: RuleTerms, idempotencyKey) => {
      if (on === null) return send<AlertRule>(api.alertRules(org), { body: rule, idempotencyKey });
      const body = { ...rule, version: on.version };
      return send<AlertRule>(api.alertRule(org, on.id), { method: "PUT", body, idempotencyKey });
    },
    onDone,
    stale: alertsOf(org),
  });
export const useRemoveRule = (org: string, id: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.alertRule(org, id), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: alertsOf(org),
  });

type NewChannel = AppAnswer<"POST /orgs/{org}/alerts/channels">;
export const useAddChannel = (org: string, onDone: (made: NewChannel) => void) =>
  useChange({
    send: (body: AppBody<"POST /orgs/{org}/alerts/channels">, idempotencyKey) =>
      send<NewChannel>(api.alertChannels(org), { body, idempotencyKey }),
    onDone,
    stale: alertsOf(org),
  });
export const useRemoveChannel = (org: string, id: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.alertChannel(org, id), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: alertsOf(org),
  });
export const useTestChannel = (org: string) =>
  useChange({
    send: (id: string, idempotencyKey) => send<unknown>(api.testChannel(org, id), { idempotencyKey }),
    onDone: () => {},
    stale: alertsOf(org),
  });
