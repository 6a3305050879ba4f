// Usage of one organization, by key, model or UTC day (specification 1: the same record backs usage and billing).
import type { Operator } from "../contract/operator.ts";
import { formatUsd } from "../contract/money.ts";
import { Refusal } from "../contract/refusals.ts";
import type { UsageQuery } from "../contract/admin-input.ts";
import type { Ledger, UsageFilter } from "../ledger/ledger.ts";
import { printTimeOrNull } from "./print.ts";
import { readTime } from "./read.ts";
import { unknownRecord } from "./unknown-record.ts";

type Store = Pick<Ledger, "organization" | "usage">;

export const usage = (ledger: Store): Operator["usage"] => ({
  async show(query) {
    const filter = readFilter(query);
    if ((await ledger.organization(query.org)) === null)
      throw unknownRecord("organization", query.org, "org");
    const rows = await ledger.usage(filter);
    return {
      org: query.org,
      group_by: query.group_by ?? null,
      from: printTimeOrNull(filter.fromMs ?? null),
      to: printTimeOrNull(filter.toMs ?? null),
      data: rows.map((row) => ({
        group: row.group,
        requests: row.requests,
        input_tokens: row.inputTokens,
        cached_tokens: row.cachedTokens,
        output_tokens: row.outputTokens,
        charge_usd: formatUsd(row.charge),
      })),
      next_cursor: null,
    };
  },
});

function readFilter({ org, key, model, from, to, group_by }: UsageQuery): UsageFilter {
  const filter: UsageFilter = { organizationId: org };
  if (key !== undefined) filter.keyId = key;
  if (model !== undefined) filter.model = model;
  if (group_by !== undefined) filter.groupBy = group_by;
  if (from !== undefined) filter.fromMs = readTime(from, "from");
  if (to !== undefined) filter.toMs = readTime(to, "to");
  if (filter.fromMs !== undefined && filter.toMs !== undefined && filter.fromMs >= filter.toMs)
    throw new Refusal("invalid_request", "from must lie before to.", { param: "from" });
  return filter;
}
