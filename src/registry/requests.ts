// Requests for display: their records, and usage from the hourly roll-up that settlement writes. Both are
// rows of the ledger, which this file only reads.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { type NanoUsd, nanoUsd, ZERO_USD } from "../domain/money.ts";
import { printDay } from "../domain/print.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { RequestRecord } from "../ledger/records.ts";
import { findRequest } from "../ledger/requests.ts";
import { sumColumn, sumOf } from "../store/exact-sum.ts";
import { ask, numberOf, orNull, placesFrom, type SqlRow, textOf } from "../store/sql.ts";

export interface UsageFilter {
  organizationId: string;
  keyId?: string;
  model?: string;
  fromMs?: number;
  toMs?: number;
  groupBy?: "key" | "model" | "day";
  /** Only groups behind this one: a key id, a model, or a day since the Unix epoch. */
  after?: string | bigint;
  /** At most this many groups. */
  most?: number;
}

export interface UsageRow {
  /** Key id, model or UTC day of the group; null for the ungrouped total. */
  group: string | null;
  /** The same as the store has it, for `after`. */
  place: string | bigint | null;
  requests: number;
  inputTokens: bigint;
  cachedTokens: bigint;
  cacheWriteTokens: bigint;
  outputTokens: bigint;
  charge: NanoUsd;
}

/** A request of any organization; null if there is none. Throws `UnreadableRecord` for a damaged one. */
export const readRequest = (on: Reader, requestId: string): Promise<RequestRecord | null> =>
  on.read(() => findRequest(requestId));

const GROUPS = { none: "CAST(NULL AS text)", key: "key_id", model: "model", day: "hour / 24" } as const;
/** Names are ordered by their bytes in both stores, whatever the collation of the database. */
const BY_BYTES = { ...GROUPS, key: `key_id COLLATE "C"`, model: `model COLLATE "C"` } as const;

/**
 * Settled requests by the hour of their admission: `fromMs` and `toMs` are rounded to whole hours. Always one
 * row if ungrouped.
 */
export const readUsageRows = (on: Reader, filter: UsageFilter): Promise<UsageRow[]> =>
  on.read(function* () {
    const group = filter.groupBy ?? "none";
    const rows = yield* ask(
      { sqlite: usageText(GROUPS[group], filter), postgresql: usageText(BY_BYTES[group], filter) },
      [
        filter.organizationId,
        filter.keyId ?? null,
        filter.model ?? null,
        filter.fromMs === undefined ? null : Math.floor(filter.fromMs / HOUR_MS),
        filter.toMs === undefined ? null : Math.ceil(filter.toMs / HOUR_MS),
        ...(filter.after === undefined ? [] : [filter.after]),
      ],
    );
    return rows.length === 0 && filter.groupBy === undefined ? [NO_USAGE] : rows.map(rowOf);
  });

const usageText = (group: string, { after, most }: UsageFilter): string => `
  SELECT ${group} AS grouping_of, ${SUMMED.map((column) => sumColumn(column, column)).join(", ")}
  FROM usage_hour
  WHERE org_id = ?1 AND (CAST(?2 AS text) IS NULL OR key_id = ?2) AND (CAST(?3 AS text) IS NULL OR model = ?3)
    AND (CAST(?4 AS bigint) IS NULL OR hour >= ?4) AND (CAST(?5 AS bigint) IS NULL OR hour < ?5)
    ${after === undefined ? "" : `AND ${group} > ?6`}
  GROUP BY 1 ORDER BY 1${most === undefined ? "" : ` LIMIT ${most}`}`;

/**
 * What each organization was charged for requests admitted since then, as `readUsageRows` counts; no entry if
 * nothing.
 */
export const readSpent = (
  on: Reader,
  organizationIds: readonly string[],
  fromMs: number,
): Promise<Map<string, () => NanoUsd>> =>
  on.read(function* () {
    const rows = yield* ask(
      `SELECT org_id, ${sumColumn("charge", "charge")} FROM usage_hour
       WHERE hour >= ?1 AND org_id IN (${placesFrom(2, organizationIds)}) GROUP BY org_id`,
      [Math.floor(fromMs / HOUR_MS), ...organizationIds],
    );
    return new Map(rows.map((row) => [textOf(row["org_id"]), () => nanoUsd(sumOf(row, "charge"))]));
  });

/** The models that each organization has used since then. */
export const readModelsUsed = (
  on: Reader,
  organizationIds: readonly string[],
  fromMs: number,
): Promise<Map<string, () => string[]>> =>
  on.read(function* () {
    const rows = yield* ask(
      `SELECT DISTINCT org_id, model FROM usage_hour
       WHERE hour >= ?1 AND org_id IN (${placesFrom(2, organizationIds)}) ORDER BY org_id, model`,
      [Math.floor(fromMs / HOUR_MS), ...organizationIds],
    );
    const byOrganization = Map.groupBy(rows, (row) => textOf(row["org_id"]));
    return new Map(
      [...byOrganization].map(([id, used]) => [id, () => used.map(({ model }) => textOf(model))]),
    );
  });

const SUMMED = [
  "requests",
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
  "charge",
] as const;

const NO_USAGE: UsageRow = {
  group: null,
  place: null,
  requests: 0,
  inputTokens: 0n,
  cachedTokens: 0n,
  cacheWriteTokens: 0n,
  outputTokens: 0n,
  charge: ZERO_USD,
};

const rowOf = (row: SqlRow): UsageRow => ({
  ...groupOf(row["grouping_of"]),
  requests: Number(sumOf(row, "requests")),
  inputTokens: sumOf(row, "input_tokens"),
  cachedTokens: sumOf(row, "cached_tokens"),
  cacheWriteTokens: sumOf(row, "cache_write_tokens"),
  outputTokens: sumOf(row, "output_tokens"),
  charge: nanoUsd(sumOf(row, "charge")),
});

/** The store numbers days since the Unix epoch. */
function groupOf(group: unknown): Pick<UsageRow, "group" | "place"> {
  if (typeof group === "bigint" || typeof group === "number")
    return { group: printDay(numberOf(group) * DAY_MS), place: BigInt(group) };
  const name = orNull(group, textOf);
  return { group: name, place: name };
}
