// How many requests of which state came when: the rows of the activity page, counted by hours or days.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { OWNER_LOST } from "../../ledger/recovery.ts";
import type { Clock } from "../../lib/clock.ts";
import { numberOf, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { asksJournal, asksRequests, type Filter, ofJournal, ofRequests } from "./activity-filter.ts";
import type { Conditions } from "./conditions.ts";
import { type Buckets, bucketsOf, startsOf } from "./usage-buckets.ts";

type Histogram = AppAnswer<"GET /orgs/{org}/activity/histogram">;

export interface HistogramPorts {
  sql: Sql;
  clock: Clock;
  flushJournal(): Promise<void>;
}

/** In the order in which they are stacked. */
const STATES = ["settled", "running", "released", "outcome_unknown", "refused", "replay"] as const;

export const activityHistogram = (on: HistogramPorts): Pick<Desk, "activityHistogram"> => ({
  async activityHistogram(organizationId, query) {
    await on.flushJournal();
    const nowMs = on.clock.nowMs();
    const { window, buckets } = bucketsOf(query, nowMs);
    const filter = { organizationId, query, window };
    const rows = [
      ...(asksRequests(query) ? await ofLedger(on.sql, { filter, buckets }) : []),
      ...(asksJournal(query) ? await ofRefusals(on.sql, { filter, buckets }) : []),
    ];
    const at = startsOf(buckets);
    const counts = new Map<string, number[]>(STATES.map((state) => [state, at.map(() => 0)]));
    for (const row of rows) {
      // A request is admitted a little after it arrived: the last of a window may lie behind its end.
      const bucket = Math.min(Math.max(0, numberOf(row["bucket"])), at.length - 1);
      const ofState = counts.get(textOf(row["state"]));
      if (ofState !== undefined) ofState[bucket] = (ofState[bucket] ?? 0) + numberOf(row["requests"]);
    }
    return {
      from: time(buckets.fromMs),
      to: time(buckets.toMs),
      bucket: buckets.unit,
      running_bucket: buckets.runningMs === null ? null : time(buckets.runningMs),
      at: at.map(time),
      states: STATES.map((state) => ({ state, counts: counts.get(state) ?? [] })),
    } satisfies Histogram;
  },
});

const time = (ms: number): string => new Date(ms).toISOString();

interface Counted {
  filter: Filter;
  buckets: Buckets;
}

function ofLedger(sql: Sql, { filter, buckets }: Counted): Promise<SqlRow[]> {
  const conditions = ofRequests(sql, filter);
  const lost = conditions.bind(OWNER_LOST);
  return grouped(sql, conditions, {
    table: "request",
    bucket: bucketOf("admitted_at", buckets),
    state: `CASE WHEN state = 'settled' THEN 'settled' WHEN state <> 'released' THEN 'running'
      WHEN error_code = ${lost} THEN 'outcome_unknown' ELSE 'released' END`,
  });
}

const ofRefusals = (sql: Sql, { filter, buckets }: Counted): Promise<SqlRow[]> =>
  grouped(sql, ofJournal(filter), { table: "journal", bucket: bucketOf("at", buckets), state: "kind" });

/** Whole numbers: the quotient is cut, in both stores. */
const bucketOf = (column: string, { fromMs, bucketMs }: Buckets): string =>
  `(${column} - ${fromMs}) / ${bucketMs}`;

const grouped = (
  sql: Sql,
  conditions: Conditions,
  { table, bucket, state }: { table: "request" | "journal"; bucket: string; state: string },
): Promise<SqlRow[]> =>
  sql.rows(
    `SELECT bucket, name AS state, count(*) AS requests
     FROM (SELECT ${bucket} AS bucket, ${state} AS name FROM ${table} ${conditions.where}) counted
     GROUP BY bucket, name`,
    ...conditions.values,
  );
