// Overview, usage and activity of an organization.
import type { Desk } from "../../contract/desk.ts";
import type { Handlers } from "./call.ts";
import { csvResponse } from "./csv.ts";
import { tailResponse } from "./tail.ts";

export interface SpendPorts {
  desk: Pick<Desk, "activity" | "activityHistogram" | "activityOf" | "receiptOf" | "overview" | "usage">;
}

type Routes =
  | "GET /orgs/{org}/overview"
  | "GET /orgs/{org}/usage"
  | "GET /orgs/{org}/usage.csv"
  | "GET /orgs/{org}/activity"
  | "GET /orgs/{org}/activity.csv"
  | "GET /orgs/{org}/activity/histogram"
  | "GET /orgs/{org}/activity/tail"
  | "GET /orgs/{org}/activity/{request}"
  | "GET /orgs/{org}/activity/{request}/receipt";

const PAGE = 200;

export const spendHandlers = ({ desk }: SpendPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/overview": ({ params, query }) => desk.overview(params.org, query),
  "GET /orgs/{org}/usage": ({ params, query }) => desk.usage(params.org, query),
  "GET /orgs/{org}/usage.csv": async ({ params, query }) => {
    const used = await desk.usage(params.org, query);
    const rows = used.at.flatMap((start, i) =>
      used.series.flatMap(({ group, second, figures }) => {
        const sums = figures[i];
        return sums === null || sums === undefined ? [] : [{ start, group, second, ...sums }];
      }),
    );
    return csvResponse({
      name: `usage-${params.org}-${used.from.slice(0, 10)}-${used.to.slice(0, 10)}`,
      columns: {
        [`${used.bucket}_utc`]: (row: (typeof rows)[number]) => row.start,
        [used.group_by ?? "group"]: (row) => row.group,
        ...(used.then_by !== null && { [used.then_by]: (row: (typeof rows)[number]) => row.second }),
        requests: (row) => row.requests,
        input_tokens: (row) => row.input_tokens,
        cached_tokens: (row) => row.cached_tokens,
        output_tokens: (row) => row.output_tokens,
        charge_usd: (row) => row.charge_usd,
      },
      page: async () => ({ data: rows, next_cursor: null }),
    });
  },
  "GET /orgs/{org}/activity": ({ params, query }) => desk.activity(params.org, query),
  "GET /orgs/{org}/activity.csv": async ({ params, query }) =>
    csvResponse({
      name: `activity-${params.org}-${query.range ?? query.from ?? "all"}`,
      columns: {
        id: (row: Awaited<ReturnType<Desk["activity"]>>["data"][number]) => row.id,
        at: (row) => row.at,
        state: (row) => row.state,
        status: (row) => row.status,
        code: (row) => row.code,
        model: (row) => row.model,
        provider: (row) => row.provider,
        region: (row) => row.region,
        scope: (row) => row.scope,
        key: (row) => row.key.id,
        key_name: (row) => row.key.name,
        input_tokens: (row) => row.input_tokens,
        cached_tokens: (row) => row.cached_tokens,
        output_tokens: (row) => row.output_tokens,
        hold_usd: (row) => row.hold_usd,
        charge_usd: (row) => row.charge_usd,
        first_part_ms: (row) => row.first_part_ms,
        total_ms: (row) => row.total_ms,
        stream: (row) => row.stream,
        finish_reason: (row) => row.finish_reason,
        replay_of: (row) => row.replay_of,
      },
      page: (cursor) => desk.activity(params.org, { ...query, cursor, limit: PAGE }),
    }),
  "GET /orgs/{org}/activity/histogram": ({ params, query }) => desk.activityHistogram(params.org, query),
  "GET /orgs/{org}/activity/tail": async ({ params, query, request, setIdleTimeout }) => {
    setIdleTimeout(60);
    const { after, ...filter } = query;
    const lastEventId = request.headers.get("last-event-id");
    return tailResponse(desk, { org: params.org, filter, after, lastEventId, signal: request.signal });
  },
  "GET /orgs/{org}/activity/{request}": ({ params }) => desk.activityOf(params.org, params.request),
  "GET /orgs/{org}/activity/{request}/receipt": ({ params }) => desk.receiptOf(params.org, params.request),
});
