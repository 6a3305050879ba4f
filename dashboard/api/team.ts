// Members of an organization and its invitations.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";
import { type Role, sessionQuery } from "./session.ts";

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

/** The answer carries the link and is kept by nobody: not by the query cache, and the mutation forgets it at once. */
export const useInvite = (org: string, onCreated: (invitation: CreatedInvitation) => void) => {
  const queries = useQueryClient();
  return useMutation({
    gcTime: 0,
    mutationFn: async ({
      idempotencyKey,
      ...body
    }: AppBody<"POST /orgs/{org}/invitations"> & { idempotencyKey: string }): Promise<void> => {
      onCreated(await send<CreatedInvitation>(api.invitations(org), { body, idempotencyKey }));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: teamOf(org) }),
  });
};

export const useWithdrawInvitation = (org: string) =>
  useTeamChange(org, { change: (id: string) => send(api.invitation(org, id), { method: "DELETE" }) });

export const useChangeRole = (org: string, onDone: () => void) =>
  useTeamChange(org, {
    change: ({ member, role }: { member: string; role: Role }) =>
      send(api.member(org, member), { method: "PATCH", body: { role } }),
    onDone,
  });

export const useRemoveMember = (org: string, onDone: () => void) =>
  useTeamChange(org, {
    change: (member: string) => send(api.member(org, member), { method: "DELETE" }),
    onDone,
  });

/** Afterwards the session knows one organization less. */
export const useLeave = (org: string, onDone: () => void) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => send(api.leave(org)),
    onSuccess: async () => {
      await queries.refetchQueries({ queryKey: sessionQuery.queryKey });
      onDone();
    },
  });
};

interface TeamChange<Terms> {
  change: (terms: Terms) => Promise<unknown>;
  onDone?: () => void;
}

function useTeamChange<Terms>(org: string, { change, onDone }: TeamChange<Terms>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => onDone?.(),
    onSettled: () => queries.invalidateQueries({ queryKey: teamOf(org) }),
  });
}
