// Usage in buckets: from the hourly roll-ups that settlement writes in its own transaction, so that every sum is the
// ledger's.
import type * as spendShapes from "../api/shapes/spend.ts";
import type { z } from "zod";
import { formatUsd, nanoUsd } from "../domain/money.ts";
import type { Clock } from "../lib/clock.ts";
import { sql as fragment } from "kysely";
import { exact, exactTotal, from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { WRITTEN_TOKENS } from "../store/written-tokens.ts";
import { printSum, printTime } from "../domain/print.ts";
import { hoursUsed } from "./hours-used.ts";
import { sinceRequest } from "./request-time.ts";
import type { Group, Sums, UsageCell } from "./usage-cell.ts";
import { type GroupNames, type GroupsPorts, namesOf as groupNames } from "./usage-groups.ts";
import { bucketOf, bucketsOf, printBuckets, startsOf } from "./usage-buckets.ts";

export type UsageQuery = z.output<typeof spendShapes.usageQuery>;
type Usage = z.output<typeof spendShapes.usage>;

const HOUR_MS = 3_600_000;

export interface UsagePorts extends GroupsPorts {
  clock: Clock;
}

export async function usageOf(on: UsagePorts, organizationId: string, query: UsageQuery): Promise<Usage> {
  const nowMs = on.clock.nowMs();
  const { buckets } = bucketsOf(query, nowMs);
  const { fromMs, toMs, bucketMs } = buckets;
  const cells = await cellsOf(on.sql, { organizationId, query, fromMs, toMs, bucketMs });
  const { group_by: group = null, then_by: second = null } = query;
  const namesOf = async (one: Group | null): Promise<GroupNames | null> =>
    one === null ? null : await groupNames(on, organizationId, { group: one, cells });
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
    ...printBuckets(buckets),
    group_by: group,
    then_by: second,
    total: printed(total),
    rows: ordered.map((entry) => ({
      ...placed(entry),
      label: labelOf(entry),
      ...printed(entry.total),
    })),
    at: at.map(printTime),
    series: ordered.map((entry) => ({
      ...placed(entry),
      figures: at.map((start) => {
        const sums = entry.buckets.get(start);
        return sums === undefined ? null : printed(sums);
      }),
    })),
  };
}

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

const none = (): Sums => ({ requests: 0, input: 0n, cached: 0n, written: 0n, output: 0n, charge: 0n });

function add(sums: Sums, more: Sums): void {
  sums.requests += more.requests;
  sums.input += more.input;
  sums.cached += more.cached;
  sums.written += more.written;
  sums.output += more.output;
  sums.charge += more.charge;
}

const printed = (sums: Sums): Usage["total"] => ({
  requests: sums.requests,
  input_tokens: printSum(sums.input),
  cached_tokens: printSum(sums.cached),
  cache_write_tokens: printSum(sums.written),
  output_tokens: printSum(sums.output),
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
  const bucket = bucketOf("hour", asked.fromMs / HOUR_MS, asked.bucketMs / HOUR_MS);
  const { key, model } = asked.query;
  const part = { first: asked.fromMs / HOUR_MS, behind: asked.toMs / HOUR_MS, key, model };
  const query = hoursUsed(sql, asked.organizationId, part)
    .groupBy(["key_id", "model", bucket])
    .select((eb) => [
      "key_id",
      "model",
      bucket.as("bucket"),
      exactTotal(eb.ref("requests")).as("counted"),
      exactTotal(eb.ref("input_tokens")).as("input"),
      exactTotal(eb.ref("cached_tokens")).as("cached"),
      exactTotal(eb.ref("cache_write_tokens")).as("written"),
      exactTotal(eb.ref("output_tokens")).as("output"),
      exactTotal(eb.ref("charge")).as("spent"),
    ]);
  return (await rowsOf(sql, query)).map((row) =>
    cellOf({ ...row, counted: exact(row.counted), release_digest: null }),
  );
}

/** An id is given when a request arrives, its time is that of its admission: a little later. */
const ADMITTED_WITHIN_MS = HOUR_MS;

async function fromRequests(sql: Sql, asked: Asked): Promise<UsageCell[]> {
  const bucket = bucketOf("admitted_at", asked.fromMs, asked.bucketMs);
  const query = from
    .selectFrom("request")
    .where((eb) =>
      eb.and([
        eb("org_id", "=", asked.organizationId),
        eb("request_id", ">=", sinceRequest(asked.fromMs - ADMITTED_WITHIN_MS)),
        eb("request_id", "<", sinceRequest(asked.toMs + ADMITTED_WITHIN_MS)),
        eb("admitted_at", ">=", BigInt(asked.fromMs)),
        eb("admitted_at", "<", BigInt(asked.toMs)),
        ...when(asked.query.key, (key) => eb("key_id", "=", key)),
        ...when(asked.query.model, (model) => eb("model", "=", model)),
        eb("state", "=", "settled"),
      ]),
    )
    .groupBy(["key_id", "model", "release_digest", bucket])
    .select((eb) => [
      "key_id",
      "model",
      "release_digest",
      bucket.as("bucket"),
      eb.fn.countAll<bigint>().as("counted"),
      exactTotal(eb.ref("prompt_tokens")).as("input"),
      exactTotal(eb.ref("cached_tokens")).as("cached"),
      exactTotal(fragment<bigint>`${fragment.raw(WRITTEN_TOKENS[sql.dialect])}`).as("written"),
      exactTotal(eb.ref("completion_tokens")).as("output"),
      exactTotal(eb.ref("charge")).as("spent"),
    ]);
  return (await rowsOf(sql, query)).map(cellOf);
}

interface CellRow {
  bucket: bigint;
  key_id: string;
  model: string;
  release_digest: string | null;
  counted: bigint;
  input: string | null;
  cached: string | null;
  written: string | null;
  output: string | null;
  spent: string | null;
}

const cellOf = (row: CellRow): UsageCell => ({
  key: row.key_id,
  model: row.model,
  digest: row.release_digest,
  bucket: Number(row.bucket),
  requests: Number(row.counted),
  input: exact(row.input),
  cached: exact(row.cached),
  written: exact(row.written),
  output: exact(row.output),
  charge: exact(row.spent),
});
