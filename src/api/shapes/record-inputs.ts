// The inputs of the operator API: strict, so that a misspelt field is refused. Names are text of at most 200
// characters; an amount is a decimal string that `parseUsd` reads exactly (hardening.md lines 139, 140, 144).
import { z } from "zod";
import { exactUsdInput, keyId, line, orgId, recordsPage, searchText, timeInput } from "./fields.ts";

const name = line();
const org = orgId;
const key = keyId;
const usd = exactUsdInput;
const model = line();
const route = line(400);
const time = timeInput;

export const orgQuery = z.strictObject({ org });
export const entitlementParams = z.strictObject({ id: z.string().regex(/^ent_[0-9A-Za-z]{1,40}$/) });
export const requestParams = z.strictObject({ id: z.string().regex(/^req_[0-9A-Za-z]{1,64}$/) });

export const createOrganizationInput = z.strictObject({ name }).meta({ id: "CreateOrganization" });

export const grantCreditsInput = z
  .strictObject({
    org,
    usd,
    kind: z
      .enum(["grant", "purchase"])
      .default("grant")
      .describe("A purchase makes the organization a paid workspace."),
    reference: name.optional().describe("A reference credits once."),
  })
  .meta({ id: "GrantCredits" });

export const refundCreditsInput = z
  .strictObject({
    request: requestParams.shape.id,
    usd,
    reference: name.optional().describe("A reference refunds once."),
  })
  .meta({ id: "RefundCredits" });

export const resolveRequestInput = z
  .strictObject({
    charge_usd: usd.nullable().describe("At most the amount held; null releases the whole hold."),
    reason: line(500).describe("For the audit log."),
  })
  .meta({ id: "ResolveRequest" });

export const resumeOrganizationInput = z
  .strictObject({ reason: line(500).describe("For the audit log.") })
  .meta({ id: "ResumeOrganization" });

export const paymentOrderParams = z.strictObject({
  order: z.string().regex(/^ord_[0-9A-Za-z]{1,40}$/, "must be an order's id, ord_…"),
});
const pageOf = {
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
};
export const quarantineQuery = z.strictObject(pageOf);
export const paymentEventsQuery = z.strictObject({ org: org.optional(), ...pageOf });

export const requestEntitlementInput = z
  .strictObject({ org, model, project: name })
  .meta({ id: "RequestEntitlement" });
export const approveEntitlementInput = entitlementParams
  .extend({ expires: time })
  .meta({ id: "ApproveEntitlement" });
export const organizationRecordsQuery = z.strictObject({
  ...recordsPage,
  search: searchText.optional().describe("A part of its name, or its id."),
});
export const personRecordsQuery = z.strictObject({
  ...recordsPage,
  search: z.string().max(254).optional().describe("A part of a name or of an address, or an id."),
});
export const entitlementRecordsQuery = z.strictObject({
  org: org.optional(),
  ...recordsPage,
  search: searchText.optional().describe("A part of its model or project, or its id."),
  status: z.enum(["requested", "active", "revoked", "expired"]).optional(),
});
/** For lists by route. */
export const routeRecordsQuery = z.strictObject({
  ...recordsPage,
  search: searchText.optional().describe("A part of the route's name."),
});
export const stoppedQuery = z.strictObject(recordsPage);

export const disableRouteInput = z
  .strictObject({ route, reason: name.nullable().default(null) })
  .meta({ id: "DisableRoute" });

export const resetLinkInput = z
  .strictObject({
    person: line(254).describe("An account's id or address."),
    two_factor: z.boolean().default(false).describe("Also remove the second factor and passkeys."),
  })
  .meta({ id: "ResetPerson" });

export const usageRecordsQuery = z.strictObject({
  org,
  key: key.optional(),
  model: model.optional(),
  from: time.optional(),
  to: time.optional(),
  group_by: z.enum(["key", "model", "day"]).optional(),
  ...recordsPage,
});

export type OrganizationRecordsQuery = z.output<typeof organizationRecordsQuery>;
export type PersonRecordsQuery = z.output<typeof personRecordsQuery>;
export type EntitlementRecordsQuery = z.output<typeof entitlementRecordsQuery>;
export type RouteRecordsQuery = z.output<typeof routeRecordsQuery>;
export type StoppedQuery = z.output<typeof stoppedQuery>;
export type CreateOrganization = z.output<typeof createOrganizationInput>;
export type GrantCredits = z.output<typeof grantCreditsInput>;
export type RefundCredits = z.output<typeof refundCreditsInput>;
export type ResolveRequest = z.output<typeof resolveRequestInput>;
export type RequestEntitlement = z.output<typeof requestEntitlementInput>;
export type DisableRoute = z.output<typeof disableRouteInput>;
export type ResetPerson = z.output<typeof resetLinkInput>;
export type UsageRecordsQuery = z.output<typeof usageRecordsQuery>;
