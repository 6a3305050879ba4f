// The audit log: an organization's for its members, everybody's for operators.
import type { z } from "zod";
import { PAGE_ROWS_MAX } from "../domain/page-rows.ts";
import { type AuditSight, auditPage } from "../reporting/audit-rows.ts";
import { assertOrganizationAsked } from "../reporting/organization-names.ts";
import { standingWindow } from "../reporting/windows.ts";
import { type CsvFile, csvFile, windowFileName } from "./csv.ts";
import { endpoint, type PersonCaller } from "./endpoint.ts";
import { auditList, auditQuery } from "./shapes/alerts.ts";
import { id } from "./shapes/fields.ts";

const ALL: AuditSight = { only: null, platform: true };
const ofOrganization = auditQuery.extend({ org: id });

export const auditLogEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/audit",
    who: "audit.see",
    own: null,
    input: ofOrganization,
    output: auditList,
    run: ({ input: { org, ...query }, caller }, { reports }) =>
      auditPage(reports, org, { query, sight: sightOf(caller) }),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/audit.csv",
    who: "audit.see",
    own: null,
    input: ofOrganization,
    output: "csv",
    run: ({ input: { org, ...asked }, caller }, { reports }) => {
      const query = standingWindow(asked, reports.clock.nowMs());
      return fileOf(windowFileName("audit", org, asked), (cursor) =>
        auditPage(reports, org, {
          query: { ...query, cursor, limit: PAGE_ROWS_MAX },
          sight: sightOf(caller),
        }),
      );
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/audit",
    who: "operate",
    input: auditQuery,
    output: auditList,
    run: async ({ input }, { reports }) => {
      await assertOrganizationAsked(reports.sql, input.org);
      return await auditPage(reports, null, { query: input, sight: ALL });
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/audit.csv",
    who: "operate",
    input: auditQuery,
    output: "csv",
    run: async ({ input }, { reports }) => {
      await assertOrganizationAsked(reports.sql, input.org);
      const query = standingWindow(input, reports.clock.nowMs());
      return await fileOf(windowFileName("audit", input.org, input), (cursor) =>
        auditPage(reports, null, { query: { ...query, cursor, limit: PAGE_ROWS_MAX }, sight: ALL }),
      );
    },
  }),
] as const;

/** Billing sees money, a developer their own actions. */
function onlyOf({ allowance, standing, signedIn }: PersonCaller): AuditSight["only"] {
  if (allowance === "all") return null;
  return standing === "billing" ? { money: true } : { actor: signedIn.person.id };
}

const sightOf = (caller: PersonCaller): AuditSight => ({
  only: onlyOf(caller),
  platform: caller.signedIn.person.operator,
});

type Page = z.output<typeof auditList>;

const fileOf = (name: string, page: (cursor: string | undefined) => Promise<Page>): Promise<CsvFile> =>
  csvFile({
    name,
    columns: {
      id: (row: Page["data"][number]) => row.id,
      at: (row) => row.at,
      actor: (row) => row.actor.id,
      actor_name: (row) => row.actor.name,
      action: (row) => row.action,
      org: (row) => row.org,
      target: (row) => row.target,
      before: (row) => row.before,
      after: (row) => row.after,
      address: (row) => row.address,
      request_id: (row) => row.request_id,
    },
    page,
  });
