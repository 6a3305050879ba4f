// What the dashboard reads beside the use-cases of `operator.ts`, as one port: `src/operator/desk` answers from the
// record that billing is made of. Ids passed admission; what does not exist is null.
import type { Actor } from "./actor.ts";
import type { z } from "zod";
import type { Credential } from "./credential.ts";
import type { APP_ROUTES, AppAnswer, AppRoute } from "./app.ts";

/** One line of the append-only audit log (hardening.md S40). */
export interface AuditNote {
  actor: Actor;
  action: string;
  organizationId: string | null;
  target: string;
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}

/** Who made which key, and what it cost this month. */
export interface KeyMaker {
  keyId: string;
  /** The actor of the audit log: a person's id, a management key's, or the gateway's own words. */
  maker: string | null;
  monthSpend: bigint;
  revoked: boolean;
}

/** What of the audit log whoever asks may see. */
export interface AuditSight {
  /** Null shows all lines. */
  only: { actor: string } | { money: true } | null;
  /** Whether it shows from where the house calls: operators, management keys, services. */
  house: boolean;
}

/** A route's query as its schema read it. */
type QueryOf<R extends AppRoute> = z.output<(typeof APP_ROUTES)[R]["query"]>;
export type ActivityQuery = QueryOf<"GET /orgs/{org}/activity">;
export type UsageQuery = QueryOf<"GET /orgs/{org}/usage">;
export type LedgerQuery = QueryOf<"GET /orgs/{org}/billing/ledger">;
export type AuditQuery = QueryOf<"GET /orgs/{org}/audit">;
type PageQuery = QueryOf<"GET /orgs/{org}/billing/holds">;
type Entitlement = AppAnswer<"GET /orgs/{org}/research">["data"][number];
type KeyDetail = AppAnswer<"GET /orgs/{org}/keys/{key}">;

export interface Desk {
  note(note: AuditNote): Promise<void>;
  keyMakers(organizationId: string): Promise<KeyMaker[]>;
  /** A key's last 24 hours by model, and its open holds. */
  keyDay(organizationId: string, keyId: string): Promise<Pick<KeyDetail, "last_day" | "open_holds">>;
  /** What the ledger compares: the playground spends by a key without its secret. Null when it is not of this one. */
  credentialOf(organizationId: string, keyId: string): Promise<Credential | null>;
  /** Throws when the name is not `from` any more. */
  renameOrganization(
    organizationId: string,
    change: { from: string; to: string },
    actor: Actor,
  ): Promise<void>;

  activity(organizationId: string, query: ActivityQuery): Promise<AppAnswer<"GET /orgs/{org}/activity">>;
  activityHistogram(
    organizationId: string,
    query: QueryOf<"GET /orgs/{org}/activity/histogram">,
  ): Promise<AppAnswer<"GET /orgs/{org}/activity/histogram">>;
  /** Throws when there is no such request of this organization. */
  activityOf(
    organizationId: string,
    requestId: string,
  ): Promise<AppAnswer<"GET /orgs/{org}/activity/{request}">>;
  /** Throws when there is no such request of this organization, or while it runs. */
  receiptOf(
    organizationId: string,
    requestId: string,
  ): Promise<AppAnswer<"GET /orgs/{org}/activity/{request}/receipt">>;
  usage(organizationId: string, query: UsageQuery): Promise<AppAnswer<"GET /orgs/{org}/usage">>;
  overview(
    organizationId: string,
    query: QueryOf<"GET /orgs/{org}/overview">,
  ): Promise<AppAnswer<"GET /orgs/{org}/overview">>;

  billing(
    organizationId: string,
  ): Promise<
    Omit<AppAnswer<"GET /orgs/{org}/billing">, "drivers" | "presets_usd" | "minimum_usd" | "maximum_usd">
  >;
  holds(organizationId: string, page: PageQuery): Promise<AppAnswer<"GET /orgs/{org}/billing/holds">>;
  ledgerPage(
    organizationId: string,
    query: LedgerQuery,
  ): Promise<AppAnswer<"GET /orgs/{org}/billing/ledger">>;
  topUps(organizationId: string, page: PageQuery): Promise<AppAnswer<"GET /orgs/{org}/billing/top-ups">>;

  models(organizationId: string): Promise<AppAnswer<"GET /orgs/{org}/models">["data"]>;
  estimate(
    query: QueryOf<"GET /orgs/{org}/models/estimate">,
  ): Promise<AppAnswer<"GET /orgs/{org}/models/estimate">>;

  ask(
    organizationId: string,
    asked: { model: string; project: string; purpose: string; until: string | null },
    actor: Actor,
  ): Promise<Entitlement>;
  entitlements(organizationId: string | null): Promise<Entitlement[]>;
  entitlement(id: string): Promise<Entitlement>;
  withdraw(organizationId: string, id: string, actor: Actor): Promise<Entitlement>;
  /** Throws when `actor` asked for it themselves. */
  decide(
    id: string,
    decision:
      | { kind: "approve"; expires: string; note: string | null }
      | { kind: "decline" | "revoke"; reason: string },
    actor: Actor,
  ): Promise<Entitlement>;

  /** Without an organization: all organizations' and the platform's. */
  audit(
    organizationId: string | null,
    query: AuditQuery,
    sight: AuditSight,
  ): Promise<AppAnswer<"GET /orgs/{org}/audit">>;

  allOrganizations(
    query: QueryOf<"GET /operator/organizations">,
  ): Promise<AppAnswer<"GET /operator/organizations">>;
  organizationRow(id: string): Promise<AppAnswer<"POST /operator/organizations">>;
  allCredits(query: QueryOf<"GET /operator/credits">): Promise<AppAnswer<"GET /operator/credits">>;
  grant(
    grant: { org: string; amount_usd: string; kind: "grant" | "purchase"; reference: string; reason: string },
    actor: Actor,
  ): Promise<AppAnswer<"POST /operator/credits">>;
  /** Throws when there is no such request. */
  refundable(request: string): Promise<AppAnswer<"GET /operator/requests/{request}">>;
  refund(
    refund: { request: string; amount_usd: string; reference: string; reason: string },
    actor: Actor,
  ): Promise<AppAnswer<"POST /operator/refunds">>;
  allRoutes(): Promise<AppAnswer<"GET /operator/routes">["data"]>;
  routeRow(route: string): Promise<AppAnswer<"POST /operator/routes/disable">>;
  verifyRelease(jws: string): Promise<AppAnswer<"POST /operator/releases/verify">>;
  releaseHistory(query: QueryOf<"GET /operator/releases">): Promise<AppAnswer<"GET /operator/releases">>;
  trustedKeys(): AppAnswer<"GET /operator/trusted-keys">["data"];
  providers(): Promise<AppAnswer<"GET /operator/providers">["data"]>;
  /** Throws for a provider that is not probed. */
  probe(provider: string): Promise<AppAnswer<"POST /operator/providers/{provider}/probe">>;
  openBreaker(
    provider: string,
    reason: string,
    actor: Actor,
  ): Promise<AppAnswer<"POST /operator/providers/{provider}/open">>;
  closeBreaker(
    provider: string,
    actor: Actor,
  ): Promise<AppAnswer<"POST /operator/providers/{provider}/close">>;
  supportBundle(): Promise<AppAnswer<"GET /operator/support-bundle">>;
  health(): Promise<AppAnswer<"GET /operator/health">>;
  ledgerReport(): Promise<AppAnswer<"POST /operator/ledger/audit">>;
  managementKeys(): Promise<AppAnswer<"GET /operator/management-keys">["data"]>;
  createManagementKey(name: string, actor: Actor): Promise<AppAnswer<"POST /operator/management-keys">>;
  revokeManagementKey(
    id: string,
    actor: Actor,
  ): Promise<AppAnswer<"POST /operator/management-keys/{key}/revoke">>;
  /** Revokes the management keys that this person's command line signed in with. */
  endLogins(personId: string, actor: Actor): Promise<void>;
}
