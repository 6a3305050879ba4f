// What only operators ask: routes and releases, providers, health, the ledger's audit, the audit log of everybody.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { AppAnswer } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, send } from "./client.ts";
import { pagedQuery } from "./paged.ts";
import { api } from "./paths.ts";

export type Health = AppAnswer<"GET /operator/health">;
export type LedgerReport = AppAnswer<"POST /operator/ledger/audit">;
export type Provider = AppAnswer<"GET /operator/providers">["data"][number];
export type ProbeResult = AppAnswer<"POST /operator/providers/{provider}/probe">;
export type OperatedRoute = AppAnswer<"GET /operator/routes">["data"][number];
export type PublishedRelease = AppAnswer<"GET /operator/releases">["data"][number];
export type VerifiedRelease = AppAnswer<"POST /operator/releases/verify">;

const HEALTH_EVERY_MS = 5_000;
const ROUTES = ["operator", "routes"] as const;
const PROVIDERS = ["operator", "providers"] as const;

export const healthQuery = queryOptions({
  queryKey: ["operator", "health"],
  queryFn: ({ signal }) => get<Health>(api.operatorHealth, {}, signal),
  refetchInterval: HEALTH_EVERY_MS,
});

export const providersQuery = queryOptions({
  queryKey: PROVIDERS,
  queryFn: ({ signal }) => get<AppAnswer<"GET /operator/providers">>(api.operatorProviders, {}, signal),
  refetchInterval: HEALTH_EVERY_MS,
});

/** Asked for when somebody copies it; kept by nobody. */
export const useSupportBundle = (onMade: (text: string) => void) =>
  useMutation({
    gcTime: 0,
    mutationFn: async () => onMade(JSON.stringify(await get<unknown>(api.operatorSupportBundle), null, 2)),
  });

/** One line of an audit log, by its id. */
export const auditLineQuery = (url: string, line: string) =>
  queryOptions({
    queryKey: ["audit line", url, line],
    queryFn: ({ signal }) => get<AppAnswer<"GET /operator/audit">>(url, { line }, signal),
  });

export const routesQuery = queryOptions({
  queryKey: ROUTES,
  queryFn: ({ signal }) => get<AppAnswer<"GET /operator/routes">>(api.operatorRoutes, {}, signal),
  refetchInterval: HEALTH_EVERY_MS,
});

export const trustedKeysQuery = queryOptions({
  queryKey: [...ROUTES, "trusted-keys"],
  queryFn: ({ signal }) => get<AppAnswer<"GET /operator/trusted-keys">>(api.operatorTrustedKeys, {}, signal),
});

/** Newest first. */
export const releasesQuery = (route: string) =>
  pagedQuery<PublishedRelease>([...ROUTES, "releases"], api.operatorReleases, { route });

/** Takes as long as the ledger is large; nothing of it is kept. */
export const useLedgerAudit = () =>
  useMutation({ mutationFn: () => send<LedgerReport>(api.operatorLedgerAudit) });

export const useDisableRoute = (onDone: () => void) =>
  useChange({
    send: (body: { route: string; reason: string }, idempotencyKey) =>
      send<OperatedRoute>(api.operatorDisableRoute, { body, idempotencyKey }),
    onDone,
    stale: ROUTES,
  });

export const useEnableRoute = (onDone: () => void) =>
  useChange({
    send: (body: { route: string }, idempotencyKey) =>
      send<OperatedRoute>(api.operatorEnableRoute, { body, idempotencyKey }),
    onDone,
    stale: ROUTES,
  });

export const usePublish = (onDone: (route: OperatedRoute) => void) =>
  useChange({
    send: (body: { jws: string }, idempotencyKey) =>
      send<OperatedRoute>(api.operatorReleases, { body, idempotencyKey }),
    onDone,
    stale: ROUTES,
  });

/** Checks a signed file without publishing it. */
export const useVerify = () =>
  useMutation({
    mutationFn: (jws: string) => send<VerifiedRelease>(api.operatorVerifyRelease, { body: { jws } }),
  });

/** A question: each click asks anew. */
export const useProbe = (provider: string) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => send<ProbeResult>(api.operatorProvider(provider, "probe")),
    onSettled: () => queries.invalidateQueries({ queryKey: PROVIDERS }),
  });
};

export const useOpenBreaker = (provider: string, onDone: () => void) =>
  useChange({
    send: (body: { reason: string }, idempotencyKey) =>
      send<Provider>(api.operatorProvider(provider, "open"), { body, idempotencyKey }),
    onDone,
    stale: PROVIDERS,
  });

export const useCloseBreaker = (provider: string, onDone: () => void) =>
  useChange({
    send: (_: void, idempotencyKey) =>
      send<Provider>(api.operatorProvider(provider, "close"), { idempotencyKey }),
    onDone,
    stale: PROVIDERS,
  });
