// Usage in buckets: from the hourly roll-ups that settlement writes in its own transaction, so that every sum is the
// ledger's.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk, UsageQuery } from "../../contract/desk.ts";
import { formatUsd, nanoUsd } from "../../contract/money.ts";
import type { Clock } from "../../lib/clock.ts";
import { moneyOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { Conditions } from "./conditions.ts";
import { sinceRequest } from "./request-time.ts";
import { bucketsOf, startsOf } from "./usage-buckets.ts";

type Usage = AppAnswer<"GET /orgs/{org}/usage">;
type Group = NonNullable<Usage["group_by"]>;

const HOUR_MS = 3_600_000;

interface Sums {
  requests: number;
  input: number;
  cached: number;
  output: number;
  charge: bigint;
}

/** What one key spent on one model within one bucket. */
export interface UsageCell extends Sums {
  key: string;
  model: string;
  /** Of the release that served; only where it was asked for. */
  digest: string | null;
  bucket: number;
}

export interface GroupNames {
  /** Null where a cell belongs to no group. */
  of(cell: UsageCell): string | null;
  label(group: string | null): string;
}

export interface UsagePorts {
  sql: Sql;
  clock: Clock;
  /** Names of the groups: key ids, person ids. */
  namesOf(organizationId: string, group: Group, cells: readonly UsageCell[]): Promise<GroupNames>;
}

export const usage = (on: UsagePorts): Pick<Desk, "usage"> => ({
  async usage(organizationId, query) {
    const nowMs = on.clock.nowMs();
    const { buckets } = bucketsOf(query, nowMs);
    const { fromMs, toMs, bucketMs } = buckets;
    const cells = await cellsOf(on.sql, { organizationId, query, fromMs, toMs, bucketMs });
    const { group_by: group = null, then_by: second = null } = query;
    const namesOf = async (one: Group | null): Promise<GroupNames | null> =>
      one === null ? null : await on.namesOf(organizationId, one, cells);
    const names = [await namesOf(group), await namesOf(second)];
    const at = startsOf(buckets);
    const groups = new Map<string, UsageGroup>();
    const total = none();
    for (const cell of cells) {
      const place = names.map((one) => one?.of(cell) ?? null);
      const name = JSON.stringify(place);
      const entry = groups.get(name) ?? emptyGroup(place);
      groups.set(name, entry);
      const start = fromMs + cell.bucket * bucketMs;
      const bucket = entry.buckets.get(start) ?? none();
      entry.buckets.set(start, bucket);
      for (const sums of [total, entry.total, bucket]) add(sums, cell);
    }
    if (group === null && second === null && groups.size === 0) groups.set("", emptyGroup([null, null]));
    const ordered = [...groups.values()].toSorted((a, b) => (a.total.charge < b.total.charge ? 1 : -1));
    const labelOf = ({ place }: UsageGroup): string =>
      names.flatMap((one, i) => one?.label(place[i] ?? null) ?? []).join(" · ") || "Total";
    return {
      org: organizationId,
      from: time(fromMs),
      to: time(toMs),
      bucket: buckets.unit,
      running_bucket: buckets.runningMs === null ? null : time(buckets.runningMs),
      group_by: group,
      then_by: second,
      total: printed(total),
      rows: ordered.map((entry) => ({
        ...placed(entry),
        label: labelOf(entry),
        ...printed(entry.total),
      })),
      at: at.map(time),
      series: ordered.map((entry) => ({
        ...placed(entry),
        figures: at.map((start) => {
          const sums = entry.buckets.get(start);
          return sums === undefined ? null : printed(sums);
        }),
      })),
    };
  },
});

interface UsageGroup {
  /** In the first grouping and in the second. */
  place: readonly (string | null)[];
  total: Sums;
  /** By the start of the bucket. */
  buckets: Map<number, Sums>;
}

const emptyGroup = (place: UsageGroup["place"]): UsageGroup => ({
  place,
  total: none(),
  buckets: new Map(),
});
const placed = ({ place: [group = null, second = null] }: UsageGroup) => ({ group, second });

const time = (ms: number): string => new Date(ms).toISOString();
const none = (): Sums => ({ requests: 0, input: 0, cached: 0, output: 0, charge: 0n });

function add(sums: Sums, more: Sums): void {
  sums.requests += more.requests;
  sums.input += more.input;
  sums.cached += more.cached;
  sums.output += more.output;
  sums.charge += more.charge;
}

const printed = (sums: Sums): Usage["total"] => ({
  requests: sums.requests,
  input_tokens: sums.input,
  cached_tokens: sums.cached,
  output_tokens: sums.output,
  charge_usd: formatUsd(nanoUsd(sums.charge)),
});

interface Asked {
  organizationId: string;
  query: UsageQuery;
  fromMs: number;
  toMs: number;
  bucketMs: number;
}

/** Who served is not in the roll-ups: by provider or region, the requests themselves are added up. */
const cellsOf = (sql: Sql, asked: Asked): Promise<UsageCell[]> =>
  [asked.query.group_by, asked.query.then_by].some((group) => group === "provider" || group === "region")
    ? fromRequests(sql, asked)
    : fromRollUps(sql, asked);

async function fromRollUps(sql: Sql, asked: Asked): Promise<UsageCell[]> {
  const conditions = new Conditions()
    .and("org_id = ?", asked.organizationId)
    .and("hour >= ?", asked.fromMs / HOUR_MS)
    .and("hour < ?", asked.toMs / HOUR_MS)
    .and("key_id = ?", asked.query.key)
    .and("model = ?", asked.query.model);
  // Whole numbers: the quotient is cut, in both stores. The size is a constant of ours.
  const bucket = `(hour - ${asked.fromMs / HOUR_MS}) / ${asked.bucketMs / HOUR_MS}`;
  const rows = await sql.rows(
    `SELECT key_id, model, ${bucket} AS bucket, sum(requests) AS requests, sum(input_tokens) AS input_tokens,
       sum(cached_tokens) AS cached_tokens, sum(output_tokens) AS output_tokens, sum(charge) AS charge
     FROM usage_hour ${conditions.where} GROUP BY key_id, model, ${bucket}`,
    ...conditions.values,
  );
  return rows.map(cellOf);
}

/** An id is given when a request arrives, its time is that of its admission: a little later. */
const ADMITTED_WITHIN_MS = HOUR_MS;

async function fromRequests(sql: Sql, asked: Asked): Promise<UsageCell[]> {
  const conditions = new Conditions()
    .and("org_id = ?", asked.organizationId)
    .and("request_id >= ?", sinceRequest(asked.fromMs - ADMITTED_WITHIN_MS))
    .and("admitted_at >= ?", asked.fromMs)
    .and("admitted_at < ?", asked.toMs)
    .and("key_id = ?", asked.query.key)
    .and("model = ?", asked.query.model)
    .also("state = 'settled'");
  const bucket = `(admitted_at - ${asked.fromMs}) / ${asked.bucketMs}`;
  const rows = await sql.rows(
    `SELECT key_id, model, release_digest, ${bucket} AS bucket, count(*) AS requests,
       COALESCE(sum(prompt_tokens), 0) AS input_tokens, COALESCE(sum(cached_tokens), 0) AS cached_tokens,
       COALESCE(sum(completion_tokens), 0) AS output_tokens, sum(charge) AS charge
     FROM request ${conditions.where} GROUP BY key_id, model, release_digest, ${bucket}`,
    ...conditions.values,
  );
  return rows.map(cellOf);
}

const cellOf = (row: SqlRow): UsageCell => ({
  key: textOf(row["key_id"]),
  model: textOf(row["model"]),
  digest: orNull(row["release_digest"], textOf),
  bucket: numberOf(row["bucket"]),
  requests: numberOf(row["requests"]),
  input: numberOf(row["input_tokens"]),
  cached: numberOf(row["cached_tokens"]),
  output: numberOf(row["output_tokens"]),
  charge: moneyOf(row["charge"]),
});
