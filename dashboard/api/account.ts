// Ways in by a one-time link: the first account, an invitation, a new password.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";
import type { Visit } from "./session.ts";

export type InvitationPreview = AppAnswer<"POST /invitations/show">;

export const makeFirstAccount = (body: AppBody<"POST /welcome">): Promise<Visit> =>
  send<Visit>(api.welcome(), { body });

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: () => send<InvitationPreview>(api.showInvitation(), { body: { token } }),
    retry: false,
    gcTime: 0,
  });

export const acceptInvitation = (body: AppBody<"POST /invitations/accept">): Promise<Visit> =>
  send<Visit>(api.acceptInvitation(), { body });

export const resetPassword = (body: AppBody<"POST /reset">): Promise<unknown> => send(api.reset(), { body });

/** How far an organization has come, for the steps of the first run. */
export const stepsQuery = (org: string) =>
  queryOptions({
    queryKey: ["organization", org, "steps"],
    queryFn: async ({ signal }) =>
      (await get<AppAnswer<"GET /orgs/{org}/overview">>(api.overview(org), {}, signal)).steps,
  });
