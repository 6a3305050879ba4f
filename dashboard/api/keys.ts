// Keys of an organization.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
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
export type NewKeyTerms = { replaces: string } | (AppBody<"POST /orgs/{org}/keys"> & { replaces?: never });

/** The answer carries the secret. */
export const useCreateKey = (org: string, onDone: (key: CreatedKey) => void) =>
  useChange({
    send: ({ replaces, ...body }: NewKeyTerms, idempotencyKey) =>
      replaces === undefined
        ? send<CreatedKey>(api.keys(org), { body, idempotencyKey })
        : send<CreatedKey>(api.replaceKey(org, replaces), { idempotencyKey }),
    onDone,
    stale: keysOf(org),
  });

export const useRevokeKey = (org: string, key: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) => send<Key>(api.revokeKey(org, key), { idempotencyKey }),
    onDone,
    stale: keysOf(org),
  });

/** What is left out stays as it is. */
export type KeyEdit = AppBody<"PATCH /orgs/{org}/keys/{key}">;

export const useEditKey = (org: string, key: string, onDone: () => void) =>
  useChange({
    send: (body: KeyEdit, idempotencyKey) =>
      send<Key>(api.key(org, key), { method: "PATCH", body, idempotencyKey }),
    onDone,
    stale: keysOf(org),
  });
