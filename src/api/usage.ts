// Usage by day, key, model and more; and each person's saved views of it.
import { z } from "zod";
import { notFound } from "../domain/unknown-record.ts";
import { assertKeyAsked } from "../registry/api-keys.ts";
import { holdUse } from "../reporting/hold-use.ts";
import { savingsOf } from "../reporting/savings.ts";
import { type UsageLine, usageLines, usageOf } from "../reporting/usage.ts";
import { csvFile } from "./csv.ts";
import { endpoint } from "./endpoint.ts";
import { DONE, done, id } from "./shapes/fields.ts";
import { usageListSchema } from "./shapes/records.ts";
import { usageRecordsQuery } from "./shapes/record-inputs.ts";
import { holds, holdsQuery } from "./shapes/holds.ts";
import { savings, savingsQuery } from "./shapes/savings.ts";
import * as shapes from "./shapes/usage.ts";

const ofOrganization = z.strictObject({ org: id });
const usageQuery = shapes.usageQuery.extend({ org: id });

const LINES_AT_ONCE = 1000;

export const usageEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/usage",
    who: "usage.see",
    input: usageQuery,
    output: shapes.usage,
    run: async ({ input: { org, ...query } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: query.key });
      return await usageOf(reports, org, query);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/usage/holds",
    who: "usage.see",
    input: holdsQuery.extend({ org: id }),
    output: holds,
    run: async ({ input: { org, ...query } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: query.key });
      return await holdUse(reports, org, query);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/usage/savings",
    who: "usage.see",
    input: savingsQuery.extend({ org: id }),
    output: savings,
    run: async ({ input: { org, ...query } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: query.key });
      return await savingsOf(reports, org, query);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/usage/views",
    who: "usage.see",
    input: ofOrganization,
    output: shapes.usageViewList,
    run: async ({ input, caller }, { people }) => ({
      data: await people.usageViews(input.org, caller.signedIn.person.id),
      next_cursor: null,
    }),
  }),
  endpoint({
    target: "PUT /app/v1/orgs/{org}/usage/views",
    who: "usage.see",
    input: shapes.usageViewInput.extend({ org: id }),
    output: shapes.usageView,
    audit: null,
    run: ({ input: { org, name, query }, caller }, { people }) =>
      people.keepUsageView({
        organizationId: org,
        personId: caller.signedIn.person.id,
        name: name.trim(),
        query,
      }),
  }),
  endpoint({
    target: "DELETE /app/v1/orgs/{org}/usage/views/{view}",
    who: "usage.see",
    input: z.strictObject({ org: id, view: id }),
    output: done,
    audit: null,
    run: async ({ input: { org, view }, caller }, { people }) => {
      if (!(await people.removeUsageView(org, caller.signedIn.person.id, view))) throw notFound("view");
      return DONE;
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/usage.csv",
    who: "usage.see",
    input: usageQuery,
    output: "csv",
    run: async ({ input: { org, ...query } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: query.key });
      const used = await usageLines(reports, org, query);
      return await csvFile({
        name: `usage-${org}-${used.from.slice(0, 10)}-${used.to.slice(0, 10)}`,
        columns: {
          [`${used.bucket}_utc`]: (row: UsageLine) => row.start,
          [query.group_by ?? "group"]: (row) => row.group,
          ...(query.then_by !== undefined && { [query.then_by]: (row: UsageLine) => row.second }),
          charged_requests: (row) => row.requests,
          input_tokens: (row) => row.input_tokens,
          cached_tokens: (row) => row.cached_tokens,
          cache_write_tokens: (row) => row.cache_write_tokens,
          output_tokens: (row) => row.output_tokens,
          charge_usd: (row) => row.charge_usd,
        },
        page: async () => {
          const data: UsageLine[] = [];
          for (let next = used.lines.next(); next.done !== true; next = used.lines.next())
            if (data.push(next.value) === LINES_AT_ONCE) return { data, next_cursor: "" };
          return { data, next_cursor: null };
        },
      });
    },
  }),
  endpoint({
    target: "GET /admin/v1/usage",
    who: "usage.see",
    summary: "Show an organization's usage by key, model or UTC day",
    input: usageRecordsQuery,
    output: usageListSchema,
    run: ({ input }, { operator }) => operator.usage.show(input),
  }),
] as const;
