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
import { asksRequestLog, asksRequests, type Filter, ofRequestLog, ofRequests } from "./activity-filter.ts";
import { bucketOf, type Buckets, bucketsOf, printBuckets, startsOf } from "./usage-buckets.ts";

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
  filter: Filter;
  buckets: Buckets;
}

interface Count {
  bucket: bigint;
  state: string;
  requests: bigint;
}

function ofLedger(sql: Sql, { filter, buckets }: Counted): Promise<Count[]> {
  const counted = from
    .selectFrom("request")
    .where(ofRequests(sql, filter))
    .select([
      bucketOf("admitted_at", buckets.fromMs, buckets.bucketMs).as("bucket"),
      fragment<string>`CASE WHEN state = 'settled' THEN CASE WHEN finish_reason IS NULL THEN 'cut_short' ELSE 'settled' END
        WHEN state <> 'released' THEN 'running'
        WHEN error_code = ${OWNER_LOST} THEN 'outcome_unknown' ELSE 'released' END`.as("state"),
    ])
    .as("counted");
  return rowsOf(
    sql,
    from
      .selectFrom(counted)
      .select((eb) => ["bucket", "state", eb.fn.countAll<bigint>().as("requests")])
      .groupBy(["bucket", "state"]),
  );
}

async function ofRefusals(sql: Sql, { filter, buckets }: Counted): Promise<Count[]> {
  const counted = from
    .selectFrom("journal")
    .where(ofRequestLog(filter))
    .select([
      bucketOf("at", buckets.fromMs, buckets.bucketMs).as("bucket"),
      "kind as state",
      "requests as one",
    ])
    .as("counted");
  const rows = await rowsOf(
    sql,
    from
      .selectFrom(counted)
      .select((eb) => ["bucket", "state", exactTotal(eb.ref("one")).as("requests")])
      .groupBy(["bucket", "state"]),
  );
  return rows.map((row) => ({ ...row, requests: exact(row.requests) }));
}
