// The operator's use-cases as one port: the operator API (and later the dashboard) call it, `src/operator` does it.
// Inputs passed their schema; `actor` is who does it (a management key's id) and is written to the audit log (S40).
// Every method throws `Refusal` or `OperatorRefusal` and has changed nothing then.
import type { Actor } from "./actor.ts";
import type {
  AuditReportJson,
  BalanceJson,
  CreatedKeyJson,
  EndedLoginJson,
  EntitlementJson,
  GrantJson,
  KeyJson,
  ListJson,
  OrganizationJson,
  PersonJson,
  RefundJson,
  ReleaseJson,
  ReleaseListJson,
  RequestJson,
  ResetLinkJson,
  RouteJson,
  UsageListJson,
} from "./admin.ts";
import type { PaymentDesk } from "./payment-desk.ts";
import type {
  CreateKey,
  CreateOrganization,
  DisableRoute,
  GrantCredits,
  RefundCredits,
  RequestEntitlement,
  ResetPerson,
  UsageQuery,
} from "./admin-input.ts";
import type { RequestListJson, RequestsQuery } from "./app/spend.ts";

export interface KeyChange {
  key: string;
  name?: string | undefined;
  usd?: string | null | undefined;
  version?: string | undefined;
}

export interface Operator {
  organizations: {
    create(input: CreateOrganization, actor: Actor): Promise<OrganizationJson>;
    list(): Promise<ListJson<OrganizationJson>>;
  };
  credits: {
    /** The same reference with the same amount credits once; with another amount it is a conflict. */
    grant(input: GrantCredits, actor: Actor): Promise<GrantJson>;
    show(org: string): Promise<BalanceJson>;
    /** Returns what a settled request cost, or part of it; the same reference once. */
    refund(input: RefundCredits, actor: Actor): Promise<RefundJson>;
  };
  keys: {
    /** The only answer that ever carries the secret. */
    create(input: CreateKey, actor: Actor): Promise<CreatedKeyJson>;
    list(org: string): Promise<ListJson<KeyJson>>;
    revoke(key: string, actor: Actor): Promise<KeyJson>;
    /** Its name, its limit or both, all or nothing; what is left out stays, and without a version any is changed. */
    change(change: KeyChange, actor: Actor): Promise<KeyJson>;
  };
  entitlements: {
    request(input: RequestEntitlement, actor: Actor): Promise<EntitlementJson>;
    approve(approval: { id: string; expires: string }, actor: Actor): Promise<EntitlementJson>;
    revoke(id: string, actor: Actor): Promise<EntitlementJson>;
    list(org: string | undefined): Promise<ListJson<EntitlementJson>>;
  };
  releases: {
    publish(jws: string, actor: Actor): Promise<ReleaseJson>;
    list(): Promise<ReleaseListJson>;
  };
  routes: {
    list(): Promise<ListJson<RouteJson>>;
    disable(input: DisableRoute, actor: Actor): Promise<RouteJson>;
    enable(route: string, actor: Actor): Promise<RouteJson>;
  };
  usage: { show(query: UsageQuery): Promise<UsageListJson> };
  requests: {
    show(id: string): Promise<RequestJson>;
    /** Newest first, refusals and replays included; `next_cursor` goes back in time. */
    list(query: RequestsQuery): Promise<RequestListJson>;
  };
  people: {
    list(): Promise<ListJson<PersonJson>>;
    /** A link that sets a new password, once; sessions end when it is used. */
    reset(input: ResetPerson, actor: Actor): Promise<ResetLinkJson>;
  };
  logins: {
    /** Revokes the management key that calls. */
    end(actor: Actor): Promise<EndedLoginJson>;
  };
  ledger: { audit(): Promise<AuditReportJson> };
  /** Orders, events of the payment service, and payments that are confirmed by hand. */
  payments: Pick<PaymentDesk, "orders" | "events" | "confirm">;
}
