// Usage of one organization, by key, model or UTC day (specification 1: the same record backs usage and billing).
import type { UsageListJson } from "../api/shapes/records.ts";
import { HOUR_MS } from "../domain/durations.ts";
import { formatUsd } from "../domain/money.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { Refusal } from "../domain/refusals.ts";
import type { UsageRecordsQuery } from "../api/shapes/record-inputs.ts";
import type { Reader } from "../ledger/ledger.ts";
import { printSum, printTimeOrNull } from "../domain/print.ts";
import { readTime } from "../domain/read.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { assertKeyAsked } from "../registry/api-keys.ts";
import { findOrganization } from "../registry/organizations.ts";
import { noCursor, readCursor } from "./cursors.ts";
import { readUsageRows, type UsageFilter } from "../registry/requests.ts";

type Store = Reader;

export const usageTotals = (ledger: Store) => ({
  async show(query: UsageRecordsQuery): Promise<UsageListJson> {
    const filter = { ...readFilter(query), ...afterGroup(query) };
    if ((await findOrganization(ledger, query.org)) === null)
      throw unknownRecord("organization", query.org, "org");
    await assertKeyAsked(ledger, query);
    const { limit = RECORDS_MAX } = query;
    const found = await readUsageRows(ledger, { ...filter, most: limit + 1 });
    const rows = found.slice(0, limit);
    return {
      org: query.org,
      group_by: query.group_by ?? null,
      from: printTimeOrNull(filter.fromMs ?? null), // the hours that were counted
      to: printTimeOrNull(filter.toMs ?? null),
      data: rows.map((row) => ({
        group: row.group,
        requests: row.requests,
        input_tokens: printSum(row.inputTokens),
        cached_tokens: printSum(row.cachedTokens),
        cache_write_tokens: printSum(row.cacheWriteTokens),
        output_tokens: printSum(row.outputTokens),
        charge_usd: formatUsd(row.charge),
      })),
      next_cursor: found.length > limit ? `${query.group_by}.${rows.at(-1)?.place}` : null,
    };
  },
});

/** The group behind which a page begins. Throws `Refusal` for a cursor that no page of this grouping returned. */
function afterGroup({ cursor, group_by }: UsageRecordsQuery): Pick<UsageFilter, "after"> {
  if (cursor === undefined) return {};
  const [, by, after = ""] = readCursor(cursor, CURSOR);
  if (by !== group_by) throw noCursor();
  return { after: by === "day" ? BigInt(readCursor(after, DAY)[0]) : after };
}

/** The grouping, and the last group of the page before; a day as its number since the Unix epoch. */
const CURSOR = /^(key|model|day)\.(.+)$/s;
const DAY = /^-?\d{1,18}$/;

function readFilter({ org, key, model, from, to, group_by }: UsageRecordsQuery): UsageFilter {
  const filter: UsageFilter = { organizationId: org };
  if (key !== undefined) filter.keyId = key;
  if (model !== undefined) filter.model = model;
  if (group_by !== undefined) filter.groupBy = group_by;
  if (from !== undefined) filter.fromMs = readTime(from, "from");
  if (to !== undefined) filter.toMs = readTime(to, "to");
  if (filter.fromMs !== undefined && filter.toMs !== undefined && filter.fromMs >= filter.toMs)
    throw new Refusal("invalid_request", "from must be before to.", { param: "from" });
  return { ...filter, ...wholeHours(filter) };
}

/**
 * The hours that are counted: usage is rolled up by the hour, and an hour cut by the window is counted whole.
 */
const wholeHours = ({ fromMs, toMs }: UsageFilter): Pick<UsageFilter, "fromMs" | "toMs"> => ({
  ...(fromMs !== undefined && { fromMs: Math.floor(fromMs / HOUR_MS) * HOUR_MS }),
  ...(toMs !== undefined && { toMs: Math.ceil(toMs / HOUR_MS) * HOUR_MS }),
});
