// All organizations, as operators see them.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, send } from "./client.ts";
import { pagedQuery } from "./paged.ts";
import { api } from "./paths.ts";

export type OrganizationRow = AppAnswer<"GET /operator/organizations">["data"][number];
export type OwnerInvitation = AppAnswer<"POST /operator/organizations/{org}/invitations">;

const ORGANIZATIONS = ["operator", "organizations"] as const;

export const organizationsQuery = (search: string) =>
  pagedQuery<OrganizationRow>(ORGANIZATIONS, api.organizations(), { search });

/** One by its id; undefined when there is none. */
export const organizationQuery = (org: string) =>
  queryOptions({
    queryKey: [...ORGANIZATIONS, "one", org],
    queryFn: ({ signal }) =>
      get<AppAnswer<"GET /operator/organizations">>(api.organizations(), { search: org }, signal),
    select: ({ data }) => data.find(({ id }) => id === org),
    enabled: org !== "",
  });

/** Of an organization that the operator looks into without being a member. */
export const organizationNameQuery = (org: string) =>
  queryOptions({
    queryKey: ["organization", org, "name"],
    queryFn: ({ signal }) => get<AppAnswer<"GET /orgs/{org}/settings">>(api.settings(org), {}, signal),
    select: ({ name }) => name,
  });

export const useCreateOrganization = (onDone: (organization: OrganizationRow) => void) =>
  useChange({
    send: (body: AppBody<"POST /operator/organizations">, idempotencyKey) =>
      send<OrganizationRow>(api.organizations(), { body, idempotencyKey }),
    onDone,
    stale: ORGANIZATIONS,
  });

export const useRenameOrganization = (org: string, onDone: () => void) =>
  useChange({
    send: (body: AppBody<"PATCH /operator/organizations/{org}">, idempotencyKey) =>
      send<OrganizationRow>(api.operatorOrganization(org), { method: "PATCH", body, idempotencyKey }),
    onDone,
    stale: ORGANIZATIONS,
  });

export const useInviteOwner = (org: string, onDone: (invitation: OwnerInvitation) => void) =>
  useChange({
    send: (body: AppBody<"POST /operator/organizations/{org}/invitations">, idempotencyKey) =>
      send<OwnerInvitation>(api.ownerInvitations(org), { body, idempotencyKey }),
    onDone,
    stale: ORGANIZATIONS,
  });
