// What the operator API takes: strict, so that a misspelt field is refused. Names are text of at most 200 characters;
// an amount is a decimal string that `parseUsd` reads exactly (hardening.md lines 139, 140, 144).
import { z } from "zod";
import { parseUsd } from "./money.ts";

/** Any text but control characters (NUL cannot be stored everywhere) and halves of characters. */
const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.trim() !== "", "must not be blank")
    .refine(isPrintable, "must not contain control characters")
    .meta({ minLength: 1 });

function isPrintable(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

const name = line(200);
const usd = z
  .string('must be a decimal string of US dollars, like "5.00"')
  .refine(
    (text) => parseUsd(text) !== null,
    'must be US dollars like "5.00": no sign, no exponent, at most 9 decimals',
  )
  .meta({ examples: ["5.00"] });
const org = z.string().regex(/^org_[0-9A-Za-z]{1,40}$/, "must be an organization's id, org_…");
const key = z.string().regex(/^key_[0-9A-Za-z]{1,40}$/, "must be a key's id, key_…");
const model = line(200);
const route = line(400);
const time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], "must be a time like 2026-12-31T00:00:00Z")
  .meta({ examples: ["2026-12-31T00:00:00Z", "2026-12-31"] });

export const noInput = z.strictObject({});
export const orgQuery = z.strictObject({ org });
export const keyParams = z.strictObject({ key });
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
    reference: name.optional().describe("The same reference credits once."),
  })
  .meta({ id: "GrantCredits" });

export const refundCreditsInput = z
  .strictObject({
    request: requestParams.shape.id,
    usd,
    reference: name.optional().describe("The same reference refunds once."),
  })
  .meta({ id: "RefundCredits" });

export const paymentOrderParams = z.strictObject({
  order: z.string().regex(/^ord_[0-9A-Za-z]{1,40}$/, "must be an order's id, ord_…"),
});
const pageOf = {
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
};
export const paymentOrdersQuery = z.strictObject({ org, ...pageOf });
export const paymentEventsQuery = z.strictObject({ org: org.optional(), ...pageOf });

export const createKeyInput = z
  .strictObject({
    org,
    name,
    scope: z.enum(["standard", "research"]).default("standard"),
    limit_usd: usd.nullable().default(null).describe("Spend limit per UTC calendar month; null = none."),
  })
  .meta({ id: "CreateKey" });

const version = z
  .string()
  .max(40)
  .optional()
  .describe("The key's version that this was made on: refused with 409 when it has another one by now.");
export const renameKeyInput = z.strictObject({ name, version }).meta({ id: "RenameKey" });
export const limitKeyInput = z.strictObject({ usd: usd.nullable(), version }).meta({ id: "LimitKey" });

export const requestEntitlementInput = z
  .strictObject({ org, model, project: name })
  .meta({ id: "RequestEntitlement" });
export const approveEntitlementInput = z.strictObject({ expires: time }).meta({ id: "ApproveEntitlement" });
export const entitlementsQuery = z.strictObject({ org: org.optional() });

export const publishReleaseInput = z
  .strictObject({ jws: z.string().min(1).max(65_536) })
  .meta({ id: "PublishRelease" });

export const disableRouteInput = z
  .strictObject({ route, reason: name.nullable().default(null) })
  .meta({ id: "DisableRoute" });
export const enableRouteInput = z.strictObject({ route }).meta({ id: "EnableRoute" });

export const resetPersonInput = z
  .strictObject({
    person: line(254).describe("An account's id or address."),
    two_factor: z.boolean().default(false).describe("Also take the second factor away."),
  })
  .meta({ id: "ResetPerson" });

export const usageQuery = z.strictObject({
  org,
  key: key.optional(),
  model: model.optional(),
  from: time.optional(),
  to: time.optional(),
  group_by: z.enum(["key", "model", "day"]).optional(),
});

export type CreateOrganization = z.output<typeof createOrganizationInput>;
export type GrantCredits = z.output<typeof grantCreditsInput>;
export type RefundCredits = z.output<typeof refundCreditsInput>;
export type CreateKey = z.output<typeof createKeyInput>;
export type RequestEntitlement = z.output<typeof requestEntitlementInput>;
export type DisableRoute = z.output<typeof disableRouteInput>;
export type ResetPerson = z.output<typeof resetPersonInput>;
export type UsageQuery = z.output<typeof usageQuery>;
