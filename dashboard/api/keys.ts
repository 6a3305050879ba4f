// Keys of an organization.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { CreatedKeyJson, KeyJson, ListJson } from "../../src/contract/admin.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";

const keysOf = (org: string) => ["organization", org, "keys"] as const;

export const keysQuery = (org: string) =>
  queryOptions({
    queryKey: keysOf(org),
    queryFn: ({ signal }) => get<ListJson<KeyJson>>(api.keys(org), {}, signal),
  });

/** The answer carries the secret and is kept by nobody: not by the query cache, and the mutation forgets it at once. */
export const useCreateKey = (org: string, onCreated: (key: CreatedKeyJson) => void) => {
  const queries = useQueryClient();
  return useMutation({
    gcTime: 0,
    mutationFn: async ({ idempotencyKey, ...body }: NewKeyTerms): Promise<void> => {
      onCreated(await send<CreatedKeyJson>(api.keys(org), { body, idempotencyKey }));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keysOf(org) }),
  });
};

interface NewKeyTerms {
  name: string;
  scope: "standard" | "research";
  limit_usd: string | null;
  idempotencyKey: string;
}

export const useRevokeKey = (org: string, onDone: () => void) =>
  useKeyChange(org, onDone, ({ key }: { key: string }) => send<KeyJson>(api.revokeKey(org, key)));

export const useLimitKey = (org: string, onDone: () => void) =>
  useKeyChange(org, onDone, ({ key, usd }: { key: string; usd: string | null }) =>
    send<KeyJson>(api.key(org, key), { method: "PATCH", body: { limit_usd: usd } }),
  );

function useKeyChange<Terms>(org: string, onDone: () => void, change: (terms: Terms) => Promise<KeyJson>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: keysOf(org) }),
  });
}
