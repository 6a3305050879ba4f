// What operators decide: entitlements, credits, people and management keys.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { useChange } from "./change.ts";
import { get, type Query, send } from "./client.ts";
import { pagedQuery } from "./paged.ts";
import { api } from "./paths.ts";

export type EntitlementRow = AppAnswer<"GET /operator/entitlements">["data"][number];
export type Credit = AppAnswer<"GET /operator/credits">["data"][number];
export type Granted = AppAnswer<"POST /operator/credits">;
export type Refundable = AppAnswer<"GET /operator/requests/{request}">;
export type Refunded = AppAnswer<"POST /operator/refunds">;
export type OrderRow = AppAnswer<"GET /operator/orders">["data"][number];
export type PaymentEvent = AppAnswer<"GET /operator/payments">["data"][number];
export type OperatorPerson = AppAnswer<"GET /operator/people">["data"][number];
export type ManagementKey = AppAnswer<"GET /operator/management-keys">["data"][number];
export type OpenInvitation = AppAnswer<"GET /operator/invitations">["data"][number];
export type OperatorInvitation = AppAnswer<"POST /operator/people">;
export type ResetLink = AppAnswer<"POST /operator/people/{person}/reset">;

const ENTITLEMENTS = ["operator", "entitlements"] as const;
const CREDITS = ["operator", "credits"] as const;
const PEOPLE = ["operator", "people"] as const;
const MANAGEMENT_KEYS = ["operator", "management-keys"] as const;

export const entitlementsQuery = (filters: Query) =>
  pagedQuery<EntitlementRow>(ENTITLEMENTS, api.operatorEntitlements, filters);
export const creditsQuery = (filters: Query) => pagedQuery<Credit>(CREDITS, api.operatorCredits, filters);
export const ordersQuery = (filters: Query) =>
  pagedQuery<OrderRow>([...CREDITS, "orders"], api.operatorOrders, filters);
export const paymentsQuery = (filters: Query) =>
  pagedQuery<PaymentEvent>([...CREDITS, "payments"], api.operatorPayments, filters);
export const peopleQuery = queryOptions({
  queryKey: PEOPLE,
  queryFn: ({ signal }) => get<AppAnswer<"GET /operator/people">>(api.operatorPeople, {}, signal),
});
export const operatorInvitationsQuery = queryOptions({
  queryKey: [...PEOPLE, "invitations"],
  queryFn: ({ signal }) => get<AppAnswer<"GET /operator/invitations">>(api.operatorInvitations, {}, signal),
});
export const managementKeysQuery = queryOptions({
  queryKey: MANAGEMENT_KEYS,
  queryFn: ({ signal }) =>
    get<AppAnswer<"GET /operator/management-keys">>(api.operatorManagementKeys, {}, signal),
});

export const useApprove = (id: string, onDone: () => void) =>
  useChange({
    send: (body: AppBody<"POST /operator/entitlements/{entitlement}/approve">, idempotencyKey) =>
      send<EntitlementRow>(api.decideEntitlement(id, "approve"), { body, idempotencyKey }),
    onDone,
    stale: ENTITLEMENTS,
  });
export const useDecline = (id: string, onDone: () => void) =>
  useChange({
    send: (body: { reason: string }, idempotencyKey) =>
      send<EntitlementRow>(api.decideEntitlement(id, "decline"), { body, idempotencyKey }),
    onDone,
    stale: ENTITLEMENTS,
  });
export const useRevokeEntitlement = (id: string, onDone: () => void) =>
  useChange({
    send: (body: { reason: string }, idempotencyKey) =>
      send<EntitlementRow>(api.decideEntitlement(id, "revoke"), { body, idempotencyKey }),
    onDone,
    stale: ENTITLEMENTS,
  });

export const useGrant = (onDone: (granted: Granted) => void) =>
  useChange({
    send: (body: AppBody<"POST /operator/credits">, idempotencyKey) =>
      send<Granted>(api.operatorCredits, { body, idempotencyKey }),
    onDone,
    stale: CREDITS,
  });

/** Asked for once a whole id was typed. */
export const refundableQuery = (request: string) =>
  queryOptions({
    queryKey: [...CREDITS, "refundable", request],
    queryFn: ({ signal }) => get<Refundable>(api.operatorRequest(request), {}, signal),
    enabled: /^req_[0-9a-f]{32}$/.test(request),
    retry: false,
  });

export const useRefund = (onDone: (refunded: Refunded) => void) =>
  useChange({
    send: (body: AppBody<"POST /operator/refunds">, idempotencyKey) =>
      send<Refunded>(api.operatorRefunds, { body, idempotencyKey }),
    onDone,
    stale: CREDITS,
  });

export const useConfirmOrder = (order: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) => send<OrderRow>(api.confirmOrder(order), { idempotencyKey }),
    onDone,
    stale: CREDITS,
  });

export const useInviteOperator = (onDone: (invitation: OperatorInvitation) => void) =>
  useChange({
    send: (body: AppBody<"POST /operator/people">, idempotencyKey) =>
      send<OperatorInvitation>(api.operatorPeople, { body, idempotencyKey }),
    onDone,
    stale: PEOPLE,
  });
export const useWithdrawOperatorInvitation = (id: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.operatorInvitation(id), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: PEOPLE,
  });
export const useRemoveOperator = (person: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.operatorPerson(person), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: PEOPLE,
  });

export const useResetPerson = (person: string, onDone: (link: ResetLink) => void) =>
  useChange({
    send: (body: { two_factor: boolean }, idempotencyKey) =>
      send<ResetLink>(api.resetPerson(person), { body, idempotencyKey }),
    onDone,
    stale: PEOPLE,
  });

type NewManagementKey = AppAnswer<"POST /operator/management-keys">;
export const useCreateManagementKey = (onDone: (made: NewManagementKey) => void) =>
  useChange({
    send: (body: { name: string }, idempotencyKey) =>
      send<NewManagementKey>(api.operatorManagementKeys, { body, idempotencyKey }),
    onDone,
    stale: MANAGEMENT_KEYS,
  });
export const useRevokeManagementKey = (key: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) => send<ManagementKey>(api.revokeManagementKey(key), { idempotencyKey }),
    onDone,
    stale: MANAGEMENT_KEYS,
  });
