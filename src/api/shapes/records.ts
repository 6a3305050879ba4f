// The outputs of the operator API (interfaces.md §2 and §5): one schema per record, shared by server, CLI and
// OpenAPI document. Money is a decimal string with nine places, a time is RFC 3339 in UTC, null means "not
// there".
import { z } from "zod";
import { circuit, count, listOf, routeState, tier, time, usageFigures, usd } from "./fields.ts";
import { type modelUseSchema, publishedPriceSchema } from "./price.ts";
import { RELEASE_STEPS } from "../../domain/operator-refusals.ts";

export const organizationSchema = z
  .object({ id: z.string(), name: z.string(), created_at: time })
  .meta({ id: "Organization" });
export const organizationListSchema = listOf(organizationSchema).meta({ id: "OrganizationList" });

export const balanceSchema = z
  .object({
    org: z.string(),
    available_usd: usd,
    held_usd: usd,
    spent_usd: usd,
    purchased_usd: usd,
    granted_usd: usd,
    debt_usd: usd,
    currency: z.literal("USD"),
    paid_workspace: z.boolean(),
  })
  .meta({ id: "Balance" });

export const grantSchema = z
  .object({
    org: z.string(),
    balance_usd: usd.describe("The credits available now."),
    reference: z.string().describe("Credited once: sending the same reference again changes nothing."),
    credited: z.boolean().describe("False if this reference was credited before."),
  })
  .meta({ id: "Grant" });

export const refundSchema = z
  .object({
    org: z.string(),
    request: z.string(),
    balance_usd: usd.describe("The credits available now."),
    reference: z.string().describe("Refunded once: sending the same reference again changes nothing."),
    refunded: z.boolean().describe("False if this reference was refunded before."),
  })
  .meta({ id: "Refund" });

export const quarantinedSchema = z
  .object({
    id: z.string(),
    org: z.string(),
    key: z.string(),
    model: z.string(),
    held_usd: usd.describe("Held until an operator decides."),
    admitted_at: time,
    since: time,
    reason: z.string().describe("Why its outcome could not be decided."),
  })
  .meta({ id: "QuarantinedRequest" });
export const quarantineSchema = z
  .object({ data: z.array(quarantinedSchema), next_cursor: z.string().nullable() })
  .meta({ id: "Quarantine" });
export const resolvedSchema = z
  .object({
    id: z.string(),
    org: z.string(),
    charge_usd: usd,
    balance_usd: usd.describe("The credits available now."),
  })
  .meta({ id: "ResolvedRequest" });

export const entitlementSchema = z
  .object({
    id: z.string(),
    org: z.string(),
    model: z.string(),
    project: z.string(),
    status: z.enum(["requested", "active", "revoked", "expired"]),
    requested_by: z.string(),
    approved_by: z.string().nullable(),
    created_at: time,
    expires_at: time.nullable(),
  })
  .meta({ id: "Entitlement" });
export const entitlementListSchema = listOf(entitlementSchema).meta({ id: "EntitlementList" });

const UNTOLD = "Null if its release is damaged and the value unknown.";

export const routeSchema = z
  .object({
    route: z.string(),
    model: z.string().nullable().describe(UNTOLD),
    provider: z.string().nullable().describe(UNTOLD),
    region: z.string().nullable().describe(UNTOLD),
    state: routeState,
    reason: z
      .string()
      .nullable()
      .describe(
        "Why it is not live; `unreadable`: its newest release is damaged in the store. Publish a newer version, or restore the store. `unknown_terms`: a newer gateway published it with terms that this one does not know. Update this gateway.",
      ),
    since: time.nullable().describe("When the state began; for an unhealthy route, as this gateway saw it."),
    version: count,
    expires_at: time.nullable().describe(UNTOLD),
    health: z.object({
      circuit,
      failures: count.describe("Consecutive failures."),
      next_probe_at: time.nullable(),
    }),
  })
  .meta({ id: "Route" });
export const routeListSchema = listOf(routeSchema).meta({ id: "RouteList" });

export const releaseSchema = z
  .object({
    route: z.string(),
    version: count,
    state: routeState.describe("The state of the route that this release serves."),
    model: z.string(),
    provider: z.string(),
    upstream_model: z.string(),
    region: z.string(),
    tier,
    requires_paid: z.boolean(),
    digest: z.string(),
    signed_by: z.string(),
    issued_at: time,
    expires_at: time,
  })
  .meta({ id: "Release" });
/** A field that is unknown if the release is damaged in the store. */
const orUntold = <S extends z.ZodType>(schema: S) => schema.nullable().describe(UNTOLD);
const released = releaseSchema.shape;
export const releaseListSchema = listOf(
  z
    .object({
      route: released.route,
      version: released.version,
      state: released.state,
      model: orUntold(released.model),
      provider: orUntold(released.provider),
      upstream_model: orUntold(released.upstream_model),
      region: orUntold(released.region),
      tier: orUntold(released.tier),
      requires_paid: orUntold(released.requires_paid),
      digest: orUntold(released.digest),
      signed_by: orUntold(released.signed_by),
      issued_at: orUntold(released.issued_at),
      expires_at: orUntold(released.expires_at),
      published_at: orUntold(time),
      context_window: orUntold(count),
      max_output_tokens: orUntold(count),
      default_output_tokens: orUntold(count),
      price: orUntold(publishedPriceSchema),
      capabilities: orUntold(z.record(z.string(), z.union([z.boolean(), z.number()]))),
      reasoning: z.object({ modes: z.array(z.string()), default: z.string() }).nullable(),
    })
    .meta({ id: "PublishedRelease" }),
).meta({ id: "ReleaseList" });

export const usageListSchema = z
  .object({
    org: z.string(),
    group_by: z.enum(["key", "model", "day"]).nullable(),
    from: time
      .nullable()
      .describe("The start of the first hour counted (whole hours only); null means from the beginning."),
    to: time.nullable().describe("The end of the last hour counted; null means up to the present."),
    data: z.array(
      z
        .object({
          group: z.string().nullable().describe("Key id, model or UTC day; null for the total."),
          ...usageFigures,
        })
        .meta({ id: "UsageRow" }),
    ),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "UsageList" });

const personSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    operator: z.boolean(),
    two_factor: z.boolean(),
    created_at: time,
  })
  .meta({ id: "Person" });
export const personListSchema = listOf(personSchema).meta({ id: "PersonList" });
export const resetLinkSchema = z
  .object({
    email: z.string(),
    link: z.string().describe("Sets a new password, once."),
    expires_at: time,
  })
  .meta({ id: "ResetLink" });

export const endedLoginSchema = z
  .object({ key: z.string(), name: z.string(), revoked_at: time })
  .meta({ id: "EndedLogin" });

const violation = z.object({
  invariant: z.string(),
  org: z.string().nullable(),
  request_id: z.string().nullable(),
  expected: z.string(),
  found: z.string(),
});
export const stoppedOrganizationSchema = z
  .object({
    org: z.string(),
    since: time,
    violations: z.array(violation).describe("The rules that its books break, at most 20."),
  })
  .meta({ id: "StoppedOrganization" });
export const stoppedListSchema = listOf(stoppedOrganizationSchema).meta({ id: "StoppedList" });
export const resumedOrganizationSchema = z
  .object({ org: z.string(), reason: z.string() })
  .meta({ id: "ResumedOrganization" });

export const auditReportSchema = z
  .object({
    ok: z.boolean(),
    checked: z.record(z.string(), count).describe("Invariant of money.md → rows checked."),
    took_ms: z
      .record(z.string(), z.number())
      .describe("Invariant of money.md → milliseconds that the check took."),
    violations: z.array(violation),
    accepted: z
      .array(violation)
      .describe(
        "Violations in entries of the past that an operator has accepted by resuming the organization.",
      ),
    stopped: z
      .array(stoppedOrganizationSchema)
      .describe("Organizations whose paid calls are refused because their books do not add up."),
  })
  .meta({ id: "AuditReport" });

export const errorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
      request_id: z.string(),
      step: z.enum(RELEASE_STEPS).optional().describe("For a refused release: the check that failed."),
    }),
  })
  .meta({ id: "Error" });

export type OrganizationJson = z.output<typeof organizationSchema>;
export type BalanceJson = z.output<typeof balanceSchema>;
export type GrantJson = z.output<typeof grantSchema>;
export type RefundJson = z.output<typeof refundSchema>;
export type QuarantinedJson = z.output<typeof quarantinedSchema>;
export type ResolvedJson = z.output<typeof resolvedSchema>;
export type EntitlementJson = z.output<typeof entitlementSchema>;
export type RouteJson = z.output<typeof routeSchema>;
export type ReleaseJson = z.output<typeof releaseSchema>;
export type ReleaseListJson = z.output<typeof releaseListSchema>;
export type ModelUseJson = z.output<typeof modelUseSchema>;
export type UsageListJson = z.output<typeof usageListSchema>;
export type PersonJson = z.output<typeof personSchema>;
export type EndedLoginJson = z.output<typeof endedLoginSchema>;
export type ResetLinkJson = z.output<typeof resetLinkSchema>;
export type ViolationJson = z.output<typeof violation>;
export type StoppedOrganizationJson = z.output<typeof stoppedOrganizationSchema>;
export type ResumedOrganizationJson = z.output<typeof resumedOrganizationSchema>;
export type AuditReportJson = z.output<typeof auditReportSchema>;
export type ErrorJson = z.output<typeof errorSchema>;
/** A complete list of records. */
export interface ListJson<Row> {
  data: Row[];
  next_cursor: null;
}
