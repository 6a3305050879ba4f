// Keys of an organization.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";

type Keys = AppAnswer<"GET /orgs/{org}/keys">;
export type Key = Keys["data"][number];
export type CreatedKey = AppAnswer<"POST /orgs/{org}/keys">;

const keysOf = (org: string) => ["organization", org, "keys"] as const;

export const keysQuery = (org: string) =>
  queryOptions({
    queryKey: keysOf(org),
    queryFn: ({ signal }) => get<Keys>(api.keys(org), {}, signal),
  });

/** With the last day by model and the open holds, for the dialog that revokes it. */
export const keyQuery = (org: string, key: string) =>
  queryOptions({
    queryKey: [...keysOf(org), key],
    queryFn: ({ signal }) => get<AppAnswer<"GET /orgs/{org}/keys/{key}">>(api.key(org, key), {}, signal),
  });

/** A new key, or the successor of one with the same scope and limit. */
export type NewKeyTerms = { idempotencyKey: string } & (
  | { replaces: string }
  | (AppBody<"POST /orgs/{org}/keys"> & { replaces?: never })
);

/** The answer carries the secret and is kept by nobody: not by the query cache, and the mutation forgets it at once. */
export const useCreateKey = (org: string, onCreated: (key: CreatedKey) => void) => {
  const queries = useQueryClient();
  return useMutation({
    gcTime: 0,
    mutationFn: async ({ idempotencyKey, replaces, ...body }: NewKeyTerms): Promise<void> => {
      onCreated(
        replaces === undefined
          ? await send<CreatedKey>(api.keys(org), { body, idempotencyKey })
          : await send<CreatedKey>(api.replaceKey(org, replaces), { idempotencyKey }),
      );
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keysOf(org) }),
  });
};

export const useRevokeKey = (org: string, onDone: () => void) =>
  useKeyChange(org, onDone, ({ key }: { key: string }) => send<Key>(api.revokeKey(org, key)));

/** What is left out stays as it is. */
export type KeyEdit = AppBody<"PATCH /orgs/{org}/keys/{key}">;

export const useEditKey = (org: string, onDone: () => void) =>
  useKeyChange(org, onDone, ({ key, edit }: { key: string; edit: KeyEdit }) =>
    send<Key>(api.key(org, key), { method: "PATCH", body: edit }),
  );

function useKeyChange<Terms>(org: string, onDone: () => void, change: (terms: Terms) => Promise<Key>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: keysOf(org) }),
  });
}
