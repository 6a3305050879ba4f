// Members of an organization and its invitations.
import { queryOptions, useQueryClient } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";
import { sessionQuery } from "./session.ts";

type Team = AppAnswer<"GET /orgs/{org}/team">;
type Invitations = AppAnswer<"GET /orgs/{org}/invitations">;
export type Member = Team["data"][number];
export type Invitation = Invitations["data"][number];
export type CreatedInvitation = AppAnswer<"POST /orgs/{org}/invitations">;

const teamOf = (org: string) => ["organization", org, "team"] as const;

export const teamQuery = (org: string) =>
  queryOptions({
    queryKey: teamOf(org),
    queryFn: ({ signal }) => get<Team>(api.team(org), {}, signal),
  });

export const invitationsQuery = (org: string) =>
  queryOptions({
    queryKey: [...teamOf(org), "invitations"],
    queryFn: ({ signal }) => get<Invitations>(api.invitations(org), {}, signal),
  });

/** The answer carries the link. */
export const useInvite = (org: string, onDone: (invitation: CreatedInvitation) => void) =>
  useChange({
    send: (body: AppBody<"POST /orgs/{org}/invitations">, idempotencyKey) =>
      send<CreatedInvitation>(api.invitations(org), { body, idempotencyKey }),
    onDone,
    stale: teamOf(org),
  });

export const useWithdrawInvitation = (org: string, id: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.invitation(org, id), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: teamOf(org),
  });

export const useChangeRole = (org: string, member: string, onDone: () => void) =>
  useChange({
    send: (body: AppBody<"PATCH /orgs/{org}/team/{member}">, idempotencyKey) =>
      send<unknown>(api.member(org, member), { method: "PATCH", body, idempotencyKey }),
    onDone,
    stale: teamOf(org),
  });

export const useRemoveMember = (org: string, member: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.member(org, member), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: teamOf(org),
  });

/** Afterwards the session knows one organization less. */
export const useLeave = (org: string, onDone: () => void) => {
  const queries = useQueryClient();
  return useChange({
    send: async (_: null, idempotencyKey) => {
      await send<unknown>(api.leave(org), { idempotencyKey });
      await queries.refetchQueries({ queryKey: sessionQuery.queryKey });
    },
    onDone,
    stale: sessionQuery.queryKey,
  });
};
