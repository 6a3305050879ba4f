// What requests became, on PostgreSQL: records, stored answers, and usage from the hourly roll-up that settlement writes.
import type { Evidence, Tier } from "../contract/gateway-object.ts";
import { ZERO_USD } from "../contract/money.ts";
import { openAnswer } from "./answer-vault.ts";
import type {
  AttemptRecord,
  RequestRecord,
  StoredAnswer,
  TokenUsage,
  UsageFilter,
  UsageRow,
} from "./ledger.ts";
import { type Cell, bytes, flag, int, intOrNull, money, text, textOrNull } from "./postgres-cell.ts";
import { type Asking, ask, askOnce, statement } from "./postgres-query.ts";
import { OWNER_LOST } from "./recovery.ts";

const HOUR_MS = 3_600_000;

export const REQUEST_COLUMNS = `request_id, org_id, key_id, idem_key, model, tier, state, stream, admitted_at, ended_at, month,
  hold, prompt_bound, output_bound, release_digest, evidence, prompt_tokens, completion_tokens, cached_tokens,
  reasoning_tokens, charge, variance, minimum_applied, status, error_code, finish_reason, first_part_ms, total_ms,
  attempts`;

/** Finds a request whose organization the caller does not know: one seek in the primary key for each of them. */
export async function findRequest(on: Asking, requestId: string): Promise<RequestRecord | null> {
  const [row] = await askOnce(
    on,
    `SELECT ${REQUEST_COLUMNS} FROM request
     WHERE org_id = ANY (ARRAY(SELECT org_id FROM organization)) AND request_id = $1`,
    [requestId],
  );
  return row === undefined ? null : requestRecordOf(row);
}

const ANSWER = statement("answer", "SELECT sealed FROM result WHERE org_id = $1 AND request_id = $2");

/** Null when it is not kept. */
export async function readAnswer(
  on: Asking,
  place: { organizationId: string; requestId: string },
  dataKey: Uint8Array,
): Promise<StoredAnswer | null> {
  const [row] = await ask(on, ANSWER, [place.organizationId, place.requestId]);
  return row === undefined ? null : openAnswer(dataKey, place, bytes(row[0]));
}

/** Settled requests by the hour of their admission: `fromMs` and `toMs` count whole hours. Always one row ungrouped. */
export async function readUsage(on: Asking, filter: UsageFilter): Promise<UsageRow[]> {
  const rows = await askOnce(
    on,
    `SELECT ${GROUPS[filter.groupBy ?? "none"]} AS grouping_of, sum(requests)::bigint, sum(input_tokens)::bigint,
       sum(cached_tokens)::bigint, sum(output_tokens)::bigint, sum(charge)::bigint
     FROM usage_hour
     WHERE org_id = $1 AND ($2::text IS NULL OR key_id = $2) AND ($3::text IS NULL OR model = $3)
       AND ($4::bigint IS NULL OR hour >= $4) AND ($5::bigint IS NULL OR hour < $5)
     GROUP BY 1 ORDER BY 1`,
    [
      filter.organizationId,
      filter.keyId ?? null,
      filter.model ?? null,
      filter.fromMs === undefined ? null : Math.floor(filter.fromMs / HOUR_MS),
      filter.toMs === undefined ? null : Math.ceil(filter.toMs / HOUR_MS),
    ],
  );
  return rows.length === 0 && filter.groupBy === undefined ? [NO_USAGE] : rows.map(usageOf);
}

const GROUPS = {
  none: "NULL::text",
  key: "key_id",
  model: "model",
  day: "to_char(to_timestamp(hour * 3600) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
} as const;

const NO_USAGE: UsageRow = {
  group: null,
  requests: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  charge: ZERO_USD,
};

const usageOf = ([group, requests, input, cached, output, charge]: Cell[]): UsageRow => ({
  group: textOrNull(group),
  requests: int(requests),
  inputTokens: int(input),
  cachedTokens: int(cached),
  outputTokens: int(output),
  charge: money(charge),
});

export function requestRecordOf(row: Cell[]): RequestRecord {
  const tier = row[5] as Tier;
  const errorCode = textOrNull(row[24]);
  return {
    requestId: text(row[0]),
    organizationId: text(row[1]),
    keyId: text(row[2]),
    idempotencyKey: textOrNull(row[3]),
    model: text(row[4]),
    tier,
    researchMode: tier === "research",
    state: stateOf(text(row[6]), errorCode),
    stream: flag(row[7]),
    admittedAtMs: int(row[8]),
    endedAtMs: intOrNull(row[9]),
    month: text(row[10]),
    hold: money(row[11]),
    promptBound: int(row[12]),
    outputBound: int(row[13]),
    releaseDigest: text(row[14]),
    evidence: row[15] as Evidence | null,
    usage: usageRecordOf(row.slice(16, 20)),
    charge: money(row[20]),
    variance: money(row[21]),
    minimumApplied: flag(row[22]),
    status: intOrNull(row[23]),
    errorCode,
    finishReason: textOrNull(row[25]),
    firstPartMs: intOrNull(row[26]),
    totalMs: intOrNull(row[27]),
    attempts: JSON.parse(text(row[28])) as AttemptRecord[],
  };
}

function stateOf(state: string, errorCode: string | null): RequestRecord["state"] {
  if (state === "admitted" || state === "dispatched") return "running";
  if (state === "settled") return "settled";
  return errorCode === OWNER_LOST ? "outcome_unknown" : "released";
}

/** Null while it runs, though a checkpoint may have noted its prompt. */
function usageRecordOf([prompt, completion, cached, reasoning]: Cell[]): TokenUsage | null {
  if (prompt === null || completion === null) return null;
  return {
    promptTokens: int(prompt),
    completionTokens: int(completion),
    cachedTokens: intOrNull(cached),
    reasoningTokens: intOrNull(reasoning),
  };
}
