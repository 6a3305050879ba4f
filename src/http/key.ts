// GET /v1/key: the caller's own key and how much of its limits is left (specification 2.3, wire.md §5).
import { formatUsd } from "../domain/money.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { leftOf, reachedOf } from "../ledger/key-spans.ts";
import type { Reader } from "../ledger/ledger.ts";
import { type Clock, nextUtcMonth } from "../lib/clock.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";
import { replyJson } from "./reply.ts";
import type { KeyRecord } from "../registry/api-keys.ts";

export const key = (ports: { ledger: Reader; clock: Clock }): Handler =>
  withKey(ports.ledger, (context, record) => replyJson(context, wireKey(record, ports.clock.nowMs())));

function wireKey(record: KeyRecord, nowMs: number): unknown {
  const { limit, monthSpend, held } = record;
  const left = leftOf(record.spans);
  return {
    object: "key",
    id: record.id,
    name: record.name,
    prefix: record.prefix,
    scope: record.scope,
    organization: record.organizationId,
    limit_usd: limit === null ? null : formatUsd(limit),
    month: record.month,
    month_spend_usd: formatUsd(monthSpend),
    held_usd: formatUsd(held),
    remaining_usd: left === null ? null : formatUsd(left),
    resets_at: printTime(reachedOf(record.spans)?.resetsAtMs ?? nextUtcMonth(nowMs)),
    limits: record.spans.map(({ period, limit, spent, held, resetsAtMs }) => ({
      period,
      limit_usd: formatUsd(limit),
      spent_usd: formatUsd(spent),
      held_usd: formatUsd(held),
      resets_at: printTime(resetsAtMs),
    })),
    allowed_models: record.allowedModels,
    max_output_tokens: record.maxOutputTokens,
    expires_at: printTimeOrNull(record.expiresAtMs),
    created_at: printTime(record.createdAtMs),
    last_used_at: printTimeOrNull(record.lastUsedAtMs),
  };
}
