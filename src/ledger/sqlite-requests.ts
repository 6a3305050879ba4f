// What requests became, on SQLite: records, stored answers, and usage from the hourly roll-up that settlement writes.
import type { Database } from "bun:sqlite";
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
import { OWNER_LOST } from "./recovery.ts";
import { type Cell, flag, int, intOrNull, money, text, textOrNull } from "./sqlite-cell.ts";

const HOUR_MS = 3_600_000;

export class SqliteRequests {
  constructor(
    private readonly database: Database,
    private readonly dataKey: Uint8Array,
  ) {}

  find(requestId: string): RequestRecord | null {
    // The primary key leads with the organization: one seek for each, instead of an index row for each request.
    const row = this.database
      .query(
        `SELECT request_id, org_id, key_id, idem_key, model, tier, state, stream, admitted_at, ended_at, month, hold,
           prompt_bound, output_bound, release_digest, evidence, prompt_tokens, completion_tokens, cached_tokens,
           reasoning_tokens, charge, variance, minimum_applied, status, error_code, finish_reason, first_part_ms,
           total_ms, attempts
         FROM request WHERE org_id IN (SELECT org_id FROM organization) AND request_id = ?1`,
      )
      .values(requestId)[0] as Cell[] | undefined;
    return row === undefined ? null : requestOf(row);
  }

  /** Null when it is not kept. */
  answer(place: { organizationId: string; requestId: string }): StoredAnswer | null {
    const row = this.database
      .query("SELECT sealed FROM result WHERE org_id = ?1 AND request_id = ?2")
      .values(place.organizationId, place.requestId)[0];
    return row === undefined ? null : openAnswer(this.dataKey, place, row[0] as Uint8Array);
  }

  /** Settled requests by the hour of their admission: `fromMs` and `toMs` count whole hours. Always one row ungrouped. */
  usage(filter: UsageFilter): UsageRow[] {
    const rows = this.database
      .query(
        `SELECT ${GROUPS[filter.groupBy ?? "none"]} AS grouping, sum(requests), sum(input_tokens), sum(cached_tokens),
           sum(output_tokens), sum(charge)
         FROM usage_hour
         WHERE org_id = ?1 AND (?2 IS NULL OR key_id = ?2) AND (?3 IS NULL OR model = ?3)
           AND (?4 IS NULL OR hour >= ?4) AND (?5 IS NULL OR hour < ?5)
         GROUP BY grouping ORDER BY grouping`,
      )
      .values(
        filter.organizationId,
        filter.keyId ?? null,
        filter.model ?? null,
        filter.fromMs === undefined ? null : Math.floor(filter.fromMs / HOUR_MS),
        filter.toMs === undefined ? null : Math.ceil(filter.toMs / HOUR_MS),
      ) as Cell[][];
    return rows.length === 0 && filter.groupBy === undefined ? [NO_USAGE] : rows.map(usageOf);
  }
}

const GROUPS = {
  none: "NULL",
  key: "key_id",
  model: "model",
  day: "date(hour * 3600, 'unixepoch')",
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

function requestOf(row: Cell[]): RequestRecord {
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
  if (state === "dispatched") return "running";
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
