// Requests: listed, counted, followed live, shown one by one with their receipts.
import { z } from "zod";
import { PAGE_ROWS_MAX } from "../domain/page-rows.ts";
import { assertKeyAsked } from "../registry/api-keys.ts";
import { activityOf, activityPage } from "../reporting/activity.ts";
import { activityHistogramOf } from "../reporting/activity-histogram.ts";
import { requestsFoundBy } from "../reporting/found-requests.ts";
import { pagesOfAll, requestsOfAll } from "../reporting/operator-requests.ts";
import { assertOrganizationAsked } from "../reporting/organization-names.ts";
import { receiptOfRequest } from "../reporting/receipts.ts";
import { csvFile, windowFileName } from "./csv.ts";
import { standingWindow } from "../reporting/windows.ts";
import { endpoint } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import { operatorRequests, operatorRequestsQuery } from "./shapes/operator-requests.ts";
import { requestParams } from "./shapes/record-inputs.ts";
import { heldNothingSchema, requestSchema } from "./shapes/requests.ts";
import * as shapes from "./shapes/activity.ts";

const ofOrganization = { org: id };
const oneRequest = z.strictObject({ org: id, request: id });

type OperatorRow = z.output<typeof operatorRequests>["data"][number];
type ActivityRow = z.output<typeof shapes.activityList>["data"][number];

/** The columns of a CSV: every figure of a row. */
const REQUEST_COLUMNS: Parameters<typeof csvFile<ActivityRow>>[0]["columns"] = {
  id: (row) => row.id,
  at: (row) => row.at,
  state: (row) => row.state,
  status: (row) => row.status,
  code: (row) => row.code,
  model: (row) => row.model,
  surface: (row) => row.surface,
  provider: (row) => row.provider,
  region: (row) => row.region,
  scope: (row) => row.scope,
  key: (row) => row.key.id,
  key_name: (row) => row.key.name,
  input_tokens: (row) => row.input_tokens,
  cached_tokens: (row) => row.cached_tokens,
  cache_write_tokens: (row) => row.cache_write_tokens,
  output_tokens: (row) => row.output_tokens,
  hold_usd: (row) => row.hold_usd,
  charge_usd: (row) => row.charge_usd,
  first_part_ms: (row) => row.first_part_ms,
  total_ms: (row) => row.total_ms,
  stream: (row) => row.stream,
  finish_reason: (row) => row.finish_reason,
  replay_of: (row) => row.replay_of,
  requests: (row) => row.requests,
  last_at: (row) => row.last_at,
  asked_prompt_tokens: (row) => row.asked?.prompt_tokens ?? null,
  asked_prompt_counted: (row) => row.asked?.prompt_counted ?? null,
  asked_output_tokens: (row) => row.asked?.output_tokens ?? null,
  asked_hold_usd: (row) => row.asked?.hold_usd ?? null,
  details: (row) => row.details && JSON.stringify(row.details),
};

export const requestsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity",
    who: "activity.see",
    input: shapes.activityQuery.extend(ofOrganization),
    output: shapes.activityList,
    run: async ({ input: { org, ...query } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: query.key });
      return await activityPage(reports, org, query);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity.csv",
    who: "activity.see",
    input: shapes.activityQuery.extend(ofOrganization),
    output: "csv",
    run: async ({ input: { org, ...asked } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: asked.key });
      const query = standingWindow(asked, reports.clock.nowMs());
      return await csvFile({
        name: windowFileName("activity", org, asked),
        columns: REQUEST_COLUMNS,
        page: (cursor) => activityPage(reports, org, { ...query, cursor, limit: PAGE_ROWS_MAX }),
      });
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity/histogram",
    who: "activity.see",
    input: shapes.histogramQuery.extend(ofOrganization),
    output: shapes.activityHistogram,
    run: async ({ input: { org, ...query } }, { reports }) => {
      await assertKeyAsked(reports.ledger, { org, key: query.key });
      return await activityHistogramOf(reports, org, query);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity/tail",
    who: "activity.see",
    input: shapes.tailQuery.extend(ofOrganization),
    output: "events",
    run: async ({ input: { org, after, ...filter }, caller, exchange }, { reports, tail }) => {
      await assertKeyAsked(reports.ledger, { org, key: filter.key });
      return tail({ org, person: caller.signedIn.person.id, filter, after }, exchange);
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity/{request}",
    who: "activity.see",
    input: oneRequest,
    output: shapes.activityDetail,
    run: ({ input, caller }, { reports }) =>
      activityOf(reports, input.org, {
        requestId: input.request,
        platform: caller.signedIn.person.operator,
      }),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity/{request}/receipt",
    who: "activity.see",
    input: oneRequest,
    output: shapes.signedReceipt,
    run: ({ input }, { reports }) => receiptOfRequest(reports, input.org, input.request),
  }),
  endpoint({
    target: "GET /app/v1/operator/requests",
    who: "operate",
    input: operatorRequestsQuery,
    output: operatorRequests,
    run: async ({ input: { find, ...query } }, { reports }) => {
      await assertOrganizationAsked(reports.sql, query.org);
      return find === undefined
        ? await requestsOfAll(reports, query)
        : await requestsFoundBy(reports, find, query.org);
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/requests.csv",
    who: "operate",
    input: operatorRequestsQuery,
    output: "csv",
    run: async ({ input: { find, ...asked } }, { reports }) => {
      await assertOrganizationAsked(reports.sql, asked.org);
      const query = standingWindow(asked, reports.clock.nowMs());
      const page = pagesOfAll(reports, { ...query, limit: PAGE_ROWS_MAX });
      return await csvFile({
        name: windowFileName("requests", asked.org, asked),
        columns: {
          org: (row: OperatorRow) => row.org.id,
          org_name: (row: OperatorRow) => row.org.name,
          ...REQUEST_COLUMNS,
        },
        page: find === undefined ? page : () => requestsFoundBy(reports, find, query.org),
      });
    },
  }),
  endpoint({
    target: "GET /admin/v1/requests",
    who: "activity.see",
    summary: "List an organization's requests, newest first, including refusals and replays",
    input: shapes.requestsQuery,
    output: shapes.activityList,
    run: ({ input }, { operator }) => operator.requests.list(input),
  }),
  endpoint({
    target: "GET /admin/v1/requests/{id}",
    who: "activity.see",
    summary:
      "Show one request: receipt, hold, attempts, timings; or what a refused or replayed request asked for",
    input: requestParams,
    output: z.union([requestSchema, heldNothingSchema]),
    run: ({ input }, { operator }) => operator.requests.show(input.id),
  }),
] as const;
