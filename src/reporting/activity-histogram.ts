// Counts the rows of the activity page by state and by hour or day.
import { sql as fragment } from "kysely";
import type * as activityShapes from "../api/shapes/activity.ts";
import { ACTIVITY_STATES } from "../domain/activity-states.ts";
import type { z } from "zod";
import { printTime } from "../domain/print.ts";
import { OWNER_LOST } from "../ledger/records.ts";
import type { Clock } from "../lib/clock.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import {
  asksRequestLog,
  asksRequests,
  type Filter,
  ofRequests,
  requestsLike,
  rowsLike,
} from "./activity-filter.ts";
import { OF_PIECE, sumRequestLog, sumRequests } from "./request-pieces.ts";
import { sinceRequest } from "./request-time.ts";
import { bucketOf, type Buckets, bucketsOf, printBuckets, startsOf } from "./usage-buckets.ts";
import type { Window } from "./windows.ts";

type Histogram = z.output<typeof activityShapes.activityHistogram>;

export interface HistogramPorts {
  sql: Sql;
  clock: Clock;
  flushRequestLog(): Promise<void>;
}

/** Counts by state, one per bucket. Throws `Refusal` if the window is empty or its ends are not times. */
export async function activityHistogramOf(
  on: HistogramPorts,
  organizationId: string,
  query: z.output<typeof activityShapes.histogramQuery>,
): Promise<Histogram> {
  await on.flushRequestLog();
  const nowMs = on.clock.nowMs();
  const { window, buckets } = bucketsOf(query, nowMs);
  const filter = { organizationId, query, window };
  const rows = [
    ...(asksRequests(query) ? await ofLedger(on.sql, { filter, buckets }) : []),
    ...(asksRequestLog(query) ? await ofRefusals(on.sql, { filter, buckets }) : []),
  ];
  const at = startsOf(buckets);
  const counts = new Map<string, number[]>(ACTIVITY_STATES.map((state) => [state, at.map(() => 0)]));
  for (const row of rows) {
    // A request is admitted a little after it arrived: the last one of a window may be past its end.
    const bucket = Math.min(Math.max(0, Number(row.bucket)), at.length - 1);
    const ofState = counts.get(row.state);
    if (ofState !== undefined) ofState[bucket] = (ofState[bucket] ?? 0) + Number(row.requests);
  }
  return {
    ...printBuckets(buckets),
    at: at.map(printTime),
    states: ACTIVITY_STATES.map((state) => ({ state, counts: counts.get(state) ?? [] })),
  };
}

interface Counted {
  filter: Filter & { organizationId: string; window: Window };
  buckets: Buckets;
}

interface Count {
  bucket: bigint;
  state: string;
  requests: bigint;
}

const idsOf = ({ filter: { organizationId, window } }: Counted) => ({
  organizationId,
  from: sinceRequest(window.fromMs),
  to: sinceRequest(window.toMs),
});

/** The same count may continue in another piece; null: rows that do not match the filter. */
const matching = <Row extends Omit<Count, "bucket"> & { bucket: bigint | null }>(row: Row): Count[] =>
  row.bucket === null ? [] : [{ ...row, bucket: row.bucket }];

async function ofLedger(sql: Sql, counted: Counted): Promise<Count[]> {
  const { filter, buckets } = counted;
  const bucket = bucketOf("admitted_at", buckets.fromMs, buckets.bucketMs);
  const state = fragment<string>`CASE WHEN state = 'settled' THEN CASE WHEN finish_reason IS NULL THEN 'cut_short' ELSE 'settled' END
    WHEN state <> 'released' THEN 'running'
    WHEN error_code = ${OWNER_LOST} THEN 'outcome_unknown' ELSE 'released' END`;
  if (filter.query.state === "running") {
    // These have an index of their own.
    const running = from
      .selectFrom("request")
      .where(ofRequests(sql, filter))
      .select([bucket.as("bucket"), fragment<string>`'running'`.as("state")])
      .as("running");
    const counts = from
      .selectFrom(running)
      .select((eb) => ["bucket", "state", eb.fn.countAll<bigint>().as("requests")])
      .groupBy(["bucket", "state"]);
    return await rowsOf(sql, counts);
  }
  const rows: Count[] = [];
  const pieces = sumRequests(sql, idsOf(counted), (piece) => {
    const told = from
      .selectFrom(piece)
      .select((eb) => [
        "request_id",
        fragment<bigint | null>`CASE WHEN ${requestsLike(sql, filter.query)(eb)} THEN ${bucket} END`.as(
          "bucket",
        ),
        state.as("state"),
      ])
      .as("told");
    return from
      .selectFrom(told)
      .select(["bucket", "state", ...OF_PIECE])
      .select((eb) => eb.fn.countAll<bigint>().as("requests"))
      .groupBy(["bucket", "state"]);
  });
  for await (const row of pieces) rows.push(...matching(row));
  return rows;
}

async function ofRefusals(sql: Sql, counted: Counted): Promise<Count[]> {
  const { filter, buckets } = counted;
  const bucket = bucketOf("at", buckets.fromMs, buckets.bucketMs);
  const rows: Count[] = [];
  const pieces = sumRequestLog(sql, idsOf(counted), (piece) => {
    const told = from
      .selectFrom(piece)
      .select((eb) => [
        "request_id",
        "requests as one",
        fragment<bigint | null>`CASE WHEN ${rowsLike(filter.query)(eb)} THEN ${bucket} END`.as("bucket"),
        "kind as state",
      ])
      .as("told");
    return from
      .selectFrom(told)
      .select(["bucket", "state", ...OF_PIECE])
      .select((eb) => exactTotal(eb.ref("one")).as("sum"))
      .groupBy(["bucket", "state"]);
  });
  for await (const { sum, ...row } of pieces) rows.push(...matching({ ...row, requests: exact(sum) }));
  return rows;
}
