// Usage in buckets and groups: all of them for a CSV, the most expensive and the sum of the others for a
// page.
import type * as usageShapes from "../api/shapes/usage.ts";
import type { z } from "zod";
import { formatUsd, nanoUsd } from "../domain/money.ts";
import type { Clock } from "../lib/clock.ts";
import { printSum, printTime } from "../domain/print.ts";
import { dearestCells, type Group, type Sums, type UsageCell, usageCells } from "./usage-cells.ts";
import { type Grouping, type GroupsPorts, groupingOf } from "./usage-groups.ts";
import { type Buckets, bucketsOf, printBuckets, startsOf } from "./usage-buckets.ts";

export type UsageQuery = z.output<typeof usageShapes.usageQuery>;
type Usage = z.output<typeof usageShapes.usage>;

export interface UsagePorts extends GroupsPorts {
  clock: Clock;
}

/** An organization may have ten thousand keys: groups that nobody would read one by one are summed. */
const ROWS_AT_MOST = 100;
/** More could not be distinguished in a chart. */
const SERIES_AT_MOST = 8;

/** The total covers all groups, whatever is shown. Throws `Refusal` for an invalid window. */
export async function usageOf(on: UsagePorts, organizationId: string, query: UsageQuery): Promise<Usage> {
  const { buckets, groupings, shown, all, groups } = await shownOf(on, organizationId, query);
  const starts = startsOf(buckets);
  const labelOf = await labelsOf(groupings, shown);
  const drawn = shown.slice(0, SERIES_AT_MOST);
  return {
    org: organizationId,
    ...printBuckets(buckets),
    group_by: query.group_by ?? null,
    then_by: query.then_by ?? null,
    total: printed(all.total),
    rows: shown.map((entry) => ({ ...placed(entry), label: labelOf(entry), ...printed(entry.total) })),
    others:
      groups === shown.length
        ? null
        : { groups: groups - shown.length, ...printed(without(all, shown).total) },
    at: starts.map(printTime),
    series: drawn.map((entry) => ({ ...placed(entry), figures: figuresOf(entry, starts) })),
    others_series: groups === drawn.length ? null : figuresOf(without(all, drawn), starts),
  };
}

export type UsageLine = { start: string } & Omit<Usage["rows"][number], "label">;

/** Every group of every bucket, bucket by bucket, the most expensive group first. */
export async function usageLines(on: UsagePorts, organizationId: string, query: UsageQuery) {
  const { buckets, ordered } = await groupsOf(on, organizationId, query);
  const { from, to, bucket } = printBuckets(buckets);
  const lines = function* (): Generator<UsageLine> {
    for (const start of startsOf(buckets))
      for (const entry of ordered) {
        const sums = entry.buckets.get(start);
        if (sums !== undefined) yield { start: printTime(start), ...placed(entry), ...printed(sums) };
      }
  };
  return { from, to, bucket, lines: lines() };
}

interface Groups {
  buckets: Buckets;
  /** The first and the second grouping, if requested. */
  groupings: (Grouping | null)[];
  ordered: UsageGroup[];
}

interface Shown extends Pick<Groups, "buckets" | "groupings"> {
  /** The most expensive groups. */
  shown: UsageGroup[];
  /** All groups combined, including those not shown. */
  all: UsageGroup;
  /** The number of groups. */
  groups: number;
}

async function shownOf(on: UsagePorts, organizationId: string, query: UsageQuery): Promise<Shown> {
  const { buckets } = bucketsOf(query, on.clock.nowMs());
  const dearest = await dearestCells(on.sql, { organizationId, query, ...buckets }, ROWS_AT_MOST);
  if (dearest === null) {
    const { ordered, ...asked } = await groupsOf(on, organizationId, query);
    return {
      ...asked,
      shown: ordered.slice(0, ROWS_AT_MOST),
      all: together(ordered),
      groups: ordered.length,
    };
  }
  const all = emptyGroup([null, null]);
  for (const cell of dearest.all) addAt(all, startOf(buckets, cell), cell);
  const { ordered, groupings } = await grouped(on, organizationId, { query, buckets, cells: dearest.shown });
  return { buckets, groupings, shown: ordered, all, groups: dearest.groups };
}

async function groupsOf(on: UsagePorts, organizationId: string, query: UsageQuery): Promise<Groups> {
  const { buckets } = bucketsOf(query, on.clock.nowMs());
  const cells = await usageCells(on.sql, { organizationId, query, ...buckets });
  return { buckets, ...(await grouped(on, organizationId, { query, buckets, cells })) };
}

const startOf = ({ fromMs, bucketMs }: Buckets, { bucket }: UsageCell): number => fromMs + bucket * bucketMs;

async function grouped(
  on: UsagePorts,
  organizationId: string,
  { query, buckets, cells }: { query: UsageQuery; buckets: Buckets; cells: readonly UsageCell[] },
): Promise<Omit<Groups, "buckets">> {
  const { group_by: group = null, then_by: second = null } = query;
  const grouping = async (one: Group | null): Promise<Grouping | null> =>
    one === null ? null : await groupingOf(on, organizationId, { group: one, cells });
  const groupings = [await grouping(group), await grouping(second)];
  const groups = new Map<string, UsageGroup>();
  for (const cell of cells) {
    const place = groupings.map((one) => one?.of(cell) ?? null);
    const name = JSON.stringify(place);
    const entry = groups.get(name) ?? emptyGroup(place);
    groups.set(name, entry);
    addAt(entry, startOf(buckets, cell), cell);
  }
  if (group === null && second === null && groups.size === 0) groups.set("", emptyGroup([null, null]));
  const ordered = [...groups.values()].toSorted(
    (a, b) => Number(b.total.charge > a.total.charge) - Number(b.total.charge < a.total.charge),
  );
  return { groupings, ordered };
}

async function labelsOf(
  groupings: Groups["groupings"],
  shown: readonly UsageGroup[],
): Promise<(group: UsageGroup) => string> {
  const labels = await Promise.all(
    groupings.map(async (one, at) => {
      const groups = new Set(shown.flatMap(({ place }) => place[at] ?? []));
      return await one?.labels([...groups]);
    }),
  );
  const nameOf = (one: Grouping, at: number, group: string | null): string =>
    group === null ? one.none : (labels[at]?.get(group) ?? group);
  return ({ place }) =>
    groupings.flatMap((one, at) => (one === null ? [] : nameOf(one, at, place[at] ?? null))).join(" · ") ||
    "Total";
}

interface UsageGroup {
  /** In the first grouping and in the second. */
  place: readonly (string | null)[];
  total: Sums;
  /** By the start of the bucket. */
  buckets: Map<number, Sums>;
}

const emptyGroup = (place: UsageGroup["place"]): UsageGroup => ({ place, total: none(), buckets: new Map() });
const placed = ({ place: [group = null, second = null] }: UsageGroup) => ({ group, second });

function together(groups: readonly UsageGroup[]): UsageGroup {
  const all = emptyGroup([null, null]);
  for (const { buckets } of groups) for (const [start, sums] of buckets) addAt(all, start, sums);
  return all;
}

/** What is left of `all` without these groups; buckets with nothing left are omitted. */
function without(all: UsageGroup, named: readonly UsageGroup[]): UsageGroup {
  const less = together(named);
  const left = emptyGroup([null, null]);
  for (const [start, sums] of all.buckets) {
    const rest = minus(sums, less.buckets.get(start) ?? none());
    if (rest.requests !== 0 || rest.charge !== 0n) addAt(left, start, rest);
  }
  return left;
}

const minus = (sums: Sums, less: Sums): Sums => ({
  requests: sums.requests - less.requests,
  input: sums.input - less.input,
  cached: sums.cached - less.cached,
  written: sums.written - less.written,
  output: sums.output - less.output,
  charge: sums.charge - less.charge,
});

const none = (): Sums => ({ requests: 0, input: 0n, cached: 0n, written: 0n, output: 0n, charge: 0n });

function addAt({ total, buckets }: UsageGroup, start: number, sums: Sums): void {
  const bucket = buckets.get(start) ?? none();
  buckets.set(start, bucket);
  add(bucket, sums);
  add(total, sums);
}

function add(sums: Sums, more: Sums): void {
  sums.requests += more.requests;
  sums.input += more.input;
  sums.cached += more.cached;
  sums.written += more.written;
  sums.output += more.output;
  sums.charge += more.charge;
}

const figuresOf = ({ buckets }: UsageGroup, starts: readonly number[]) =>
  starts.map((start) => {
    const sums = buckets.get(start);
    return sums === undefined ? null : printed(sums);
  });

const printed = (sums: Sums): Usage["total"] => ({
  requests: sums.requests,
  input_tokens: printSum(sums.input),
  cached_tokens: printSum(sums.cached),
  cache_write_tokens: printSum(sums.written),
  output_tokens: printSum(sums.output),
  charge_usd: formatUsd(nanoUsd(sums.charge)),
});
