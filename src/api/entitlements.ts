// Research Mode: requested by an organization, decided by an operator. A requester never approves: the ledger
// enforces the second person under its lock, which no declaration could.
import { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import { notFound } from "../domain/unknown-record.ts";
import { entitlementsPage, entitlementsToDecide } from "../reporting/entitlements.ts";
import { assertOrganizationAsked, organizationNames } from "../reporting/organization-names.ts";
import { endpoint } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import * as shapes from "./shapes/catalogue.ts";
import { id } from "./shapes/fields.ts";
import { entitlementRow, entitlementRowList, entitlementsQuery } from "./shapes/catalogue.ts";
import * as inputs from "./shapes/record-inputs.ts";
import { entitlementListSchema, entitlementSchema } from "./shapes/records.ts";

const oneEntitlement = { entitlement: id };

export const entitlementsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/research",
    who: "research.see",
    input: shapes.ownEntitlementsQuery.extend({ org: id }),
    output: shapes.entitlementList,
    run: ({ input: { org, ...asked } }, { reports }) => entitlementsPage(reports, org, asked),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/research",
    who: "research.ask",
    input: shapes.askInput.extend({ org: id }),
    output: shapes.entitlement,
    status: 201,
    audit: "entitlement.request",
    run: ({ input: { org, ...asked }, caller }, { changes }) => changes.ask(org, asked, caller.actor),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/research/{entitlement}/withdraw",
    who: "research.ask",
    input: z.strictObject({ org: id, ...oneEntitlement }),
    output: shapes.entitlement,
    audit: "entitlement.withdraw",
    run: ({ input: { org, entitlement }, caller }, { changes }) =>
      changes.withdraw(org, entitlement, caller.actor),
  }),
  endpoint({
    target: "GET /app/v1/operator/entitlements",
    who: "operate",
    input: entitlementsQuery,
    output: entitlementRowList,
    run: async ({ input, caller }, rooms) => {
      await assertOrganizationAsked(rooms.reports.sql, input.org);
      const { data, next_cursor } = await entitlementsToDecide(rooms.reports, input);
      return { data: await withNames(rooms, data, caller.actor.id), next_cursor };
    },
  }),
  endpoint({
    target: "POST /app/v1/operator/entitlements/{entitlement}/approve",
    who: "operate",
    input: shapes.approveInput.extend(oneEntitlement),
    output: entitlementRow,
    audit: "entitlement.approve",
    run: ({ input: { entitlement, ...approval }, caller }, rooms) =>
      decided(rooms, entitlement, { actor: caller.actor, decision: { kind: "approve", ...approval } }),
  }),
  endpoint({
    target: "POST /app/v1/operator/entitlements/{entitlement}/decline",
    who: "operate",
    input: shapes.declineInput.extend(oneEntitlement),
    output: entitlementRow,
    audit: "entitlement.decline",
    run: ({ input: { entitlement, reason }, caller }, rooms) =>
      decided(rooms, entitlement, { actor: caller.actor, decision: { kind: "decline", reason } }),
  }),
  endpoint({
    target: "POST /app/v1/operator/entitlements/{entitlement}/revoke",
    who: "operate",
    input: shapes.declineInput.extend(oneEntitlement),
    output: entitlementRow,
    audit: "entitlement.revoke",
    run: ({ input: { entitlement, reason }, caller }, rooms) =>
      decided(rooms, entitlement, { actor: caller.actor, decision: { kind: "revoke", reason } }),
  }),
  endpoint({
    target: "POST /admin/v1/entitlements",
    who: "operate",
    summary: "Request a Research Mode entitlement for a model",
    input: inputs.requestEntitlementInput,
    output: entitlementSchema,
    status: 201,
    audit: "entitlement.request",
    run: ({ input, caller }, { operator }) => operator.entitlements.request(input, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/entitlements",
    who: "operate",
    summary: "List entitlements, in the order of their requests",
    input: inputs.entitlementRecordsQuery,
    output: entitlementListSchema,
    run: ({ input }, { operator }) => operator.entitlements.list(input),
  }),
  endpoint({
    target: "POST /admin/v1/entitlements/{id}/approve",
    who: "operate",
    summary: "Approve a requested entitlement until a time",
    input: inputs.approveEntitlementInput,
    output: entitlementSchema,
    audit: "entitlement.approve",
    run: ({ input, caller }, { operator }) => operator.entitlements.approve(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/entitlements/{id}/revoke",
    who: "operate",
    summary: "Revoke an entitlement",
    input: inputs.entitlementParams,
    output: entitlementSchema,
    audit: "entitlement.revoke",
    run: ({ input, caller }, { operator }) => operator.entitlements.revoke(input.id, caller.actor),
  }),
] as const;

type Row = z.output<typeof entitlementRow>;
async function decided(
  rooms: Rooms,
  entitlement: string,
  { decision, actor }: { decision: Parameters<Rooms["changes"]["decide"]>[1]; actor: Actor },
): Promise<Row> {
  const row = await rooms.changes.decide(entitlement, decision, actor);
  const [named] = await withNames(rooms, [row], actor.id);
  if (named === undefined) throw notFound("entitlement");
  return named;
}

async function withNames(
  { reports }: Rooms,
  rows: Omit<Row, "org_name" | "decidable">[],
  you: string,
): Promise<Row[]> {
  const names = await organizationNames(
    reports.sql,
    rows.map(({ org }) => org),
  );
  return rows.map((row) => ({
    ...row,
    org_name: names.get(row.org) ?? row.org,
    decidable: row.state === "requested" && row.asked_by?.id !== you,
  }));
}
