// The platform as its operators see it: providers, health, the ledger's verification, requests that wait for a decision.
import { z } from "zod";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { reportOnLedger } from "../reporting/ledger-report.ts";
import { organizationNames } from "../reporting/organization-names.ts";
import { platformHealth } from "../reporting/platform.ts";
import { providerRows } from "../reporting/providers.ts";
import { supportBundleNow } from "../reporting/support-bundle.ts";
import { endpoint } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import * as shapes from "./shapes/platform.ts";
import {
  orgQuery,
  quarantineQuery,
  requestParams,
  resolveRequestInput,
  resumeOrganizationInput,
  stoppedQuery,
} from "./shapes/record-inputs.ts";
import {
  auditReportSchema,
  quarantineSchema,
  resolvedSchema,
  resumedOrganizationSchema,
  stoppedListSchema,
} from "./shapes/records.ts";

const nothing = z.strictObject({});
const oneProvider = z.strictObject({ provider: id });

export const providersEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/providers",
    who: "operate",
    input: nothing,
    output: shapes.providerList,
    run: async (_, { reports }) => ({ data: await providerRows(reports), next_cursor: null }),
  }),
  endpoint({
    target: "POST /app/v1/operator/providers/{provider}/probe",
    who: "operate",
    input: oneProvider,
    output: shapes.probeResult,
    audit: null,
    run: ({ input }, { changes }) => changes.probe(input.provider),
  }),
  endpoint({
    target: "POST /app/v1/operator/providers/{provider}/open",
    who: "operate",
    input: shapes.openBreakerInput.extend({ provider: id }),
    output: shapes.provider,
    audit: "provider.open",
    run: ({ input: { provider, reason }, caller }, { changes }) =>
      changes.openBreaker(provider, reason, caller.actor),
  }),
  endpoint({
    target: "POST /app/v1/operator/providers/{provider}/close",
    who: "operate",
    input: oneProvider,
    output: shapes.provider,
    audit: "provider.close",
    run: ({ input, caller }, { changes }) => changes.closeBreaker(input.provider, caller.actor),
  }),
] as const;

export const platformEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/support-bundle",
    who: "operate",
    input: nothing,
    output: shapes.supportBundle,
    run: (_, { reports }) => supportBundleNow(reports),
  }),
  endpoint({
    target: "GET /app/v1/operator/health",
    who: "operate",
    input: nothing,
    output: shapes.health,
    run: (_, { reports }) => platformHealth(reports),
  }),
] as const;

export const ledgerEndpoints = [
  endpoint({
    target: "POST /app/v1/operator/ledger/audit",
    who: "operate",
    input: nothing,
    output: shapes.ledgerReport,
    audit: null,
    run: (_, { reports }) => reportOnLedger(reports),
  }),
  endpoint({
    target: "GET /app/v1/operator/quarantine",
    who: "operate",
    input: quarantineQuery,
    output: shapes.quarantine,
    run: async ({ input }, { reports, operator }) => {
      const { data, next_cursor } = await operator.ledger.quarantine(input);
      const names = await organizationNames(
        reports.sql,
        data.map(({ org }) => org),
      );
      return { data: data.map((row) => ({ ...row, org_name: names.get(row.org) ?? null })), next_cursor };
    },
  }),
  endpoint({
    target: "POST /app/v1/operator/quarantine/{request}/resolve",
    who: "operate",
    input: shapes.resolveInput.extend({ request: id }),
    output: shapes.resolvedRequest,
    audit: "request.resolve",
    run: ({ input: { request, ...decision }, caller }, { operator }) =>
      operator.ledger.resolve({ requestId: request, field: "request" }, decision, caller.actor),
  }),
  endpoint({
    target: "GET /app/v1/operator/stopped",
    who: "operate",
    input: quarantineQuery,
    output: shapes.stoppedList,
    run: async ({ input: { cursor, limit = PAGE_ROWS } }, { reports, operator }) => {
      const { data, next_cursor } = await operator.ledger.stopped({ cursor, limit });
      const names = await organizationNames(
        reports.sql,
        data.map(({ org }) => org),
      );
      return { data: data.map((row) => ({ ...row, org_name: names.get(row.org) ?? null })), next_cursor };
    },
  }),
  endpoint({
    target: "POST /app/v1/operator/stopped/{org}/resume",
    who: "operate",
    input: shapes.resumeInput.extend({ org: id }),
    output: shapes.resumedOrganization,
    audit: "organization.resume",
    run: ({ input: { org, reason }, caller }, { operator }) =>
      operator.ledger.resume(org, reason, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/ledger/audit",
    who: "operate",
    summary: "Check every invariant of the ledger while traffic runs",
    input: nothing,
    output: auditReportSchema,
    run: (_, { operator }) => operator.ledger.verify(),
  }),
  endpoint({
    target: "GET /admin/v1/ledger/quarantine",
    who: "operate",
    summary:
      "List requests with a damaged record, oldest first: their credits stay held until an operator decides",
    input: quarantineQuery,
    output: quarantineSchema,
    run: ({ input }, { operator }) => operator.ledger.quarantine(input),
  }),
  endpoint({
    target: "GET /admin/v1/ledger/stopped",
    who: "operate",
    summary:
      "List organizations whose paid calls are refused because their books do not add up, ordered by id",
    input: stoppedQuery,
    output: stoppedListSchema,
    run: ({ input }, { operator }) => operator.ledger.stopped(input),
  }),
  endpoint({
    target: "POST /admin/v1/ledger/stopped/{org}/resume",
    who: "operate",
    summary: "Let a stopped organization go on, taking its entries so far as correct",
    input: resumeOrganizationInput.extend(orgQuery.shape).meta({ id: "ResumeOrganization" }),
    output: resumedOrganizationSchema,
    audit: "organization.resume",
    run: ({ input: { org, reason }, caller }, { operator }) =>
      operator.ledger.resume(org, reason, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/ledger/quarantine/{id}/resolve",
    who: "operate",
    summary: "End a quarantined request: charge at most what it held, or release it",
    input: resolveRequestInput.extend(requestParams.shape).meta({ id: "ResolveRequest" }),
    output: resolvedSchema,
    audit: "request.resolve",
    run: ({ input: { id: requestId, ...decision }, caller }, { operator }) =>
      operator.ledger.resolve({ requestId, field: "id" }, decision, caller.actor),
  }),
] as const;
