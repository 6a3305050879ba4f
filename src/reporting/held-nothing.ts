// Refused and replayed requests from the request log: what they asked for, and the figures in the refusal.
import type { HeldNothingJson } from "../api/shapes/requests.ts";
import { formatUsd, ZERO_USD } from "../domain/money.ts";
import { DAMAGED, printTime, printTimeOrNull } from "../domain/print.ts";
import { SEVERAL_KEYS } from "../domain/request-log.ts";
import { surfaceOfCell } from "../domain/surfaces.ts";
import { from, numberOrNull, rowOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

type Row = Tables["journal"];

/** The fields shown both in the list and in the record of such a request. */
export const askedOfRow = (
  row: Row,
): Pick<HeldNothingJson, "asked" | "details" | "requests" | "last_at"> => ({
  asked:
    row.prompt_bound === null
      ? null
      : {
          prompt_tokens: Number(row.prompt_bound),
          prompt_counted: row.prompt_counted === 1n,
          output_tokens: Number(row.output_bound),
          hold_usd: formatUsd(row.hold ?? ZERO_USD),
        },
  details: row.details === null ? null : detailsIn(row.details),
  requests: Number(row.requests),
  last_at: printTimeOrNull(row.last_at),
});

/** Damaged details are reported as such, in place of the figures. */
function detailsIn(printed: string): HeldNothingJson["details"] {
  try {
    return JSON.parse(printed) as HeldNothingJson["details"];
  } catch {
    return { figures: DAMAGED };
  }
}

/**
 * Null for an id that is not in the request log: one of the ledger's, a dropped entry, or one counted in
 * another row.
 */
export async function heldNothing(sql: Sql, requestId: string): Promise<HeldNothingJson | null> {
  const query = from.selectFrom("journal").selectAll().where("request_id", "=", requestId);
  const row = await rowOf(sql, query);
  if (row === undefined) return null;
  return {
    id: row.request_id,
    org: row.org_id,
    key: row.key_id === SEVERAL_KEYS ? null : row.key_id,
    state: row.kind,
    status: Number(row.status),
    error_code: row.code,
    model: row.model,
    surface: surfaceOfCell(row.surface),
    stream: row.stream !== 0n,
    received_at: printTime(row.at),
    idempotency_key: row.idempotency_key,
    replay_of: row.replay_of,
    waited_ms: numberOrNull(row.waited_ms),
    ...askedOfRow(row),
  };
}
