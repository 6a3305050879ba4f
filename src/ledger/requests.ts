// What requests became, the same on both stores: their records, and the answers that are kept under callers' keys.
import { EVIDENCE, type Evidence, type Tier } from "../domain/gateway-object.ts";
import {
  ask,
  bytesOf,
  flagOf,
  moneyOf,
  numberOf,
  orNull,
  type Query,
  type SqlRow,
  textOf,
} from "../store/sql.ts";
import { openAnswer } from "./answer-vault.ts";
import {
  type AttemptRecord,
  OWNER_LOST,
  type RequestRecord,
  type StoredAnswer,
  type TokenUsage,
} from "./ledger.ts";
import { attemptsIn, readable } from "./unreadable.ts";

const SELECT = `SELECT request_id, org_id, key_id, idem_key, model, tier, state, stream, admitted_at, ended_at, month, hold,
    prompt_bound, output_bound, release_digest, evidence, prompt_tokens, completion_tokens, cached_tokens,
    reasoning_tokens, charge, variance, minimum_applied, status, error_code, finish_reason, first_part_ms, total_ms,
    attempts
  FROM request WHERE request_id = ?1`;
/** The primary key leads with the organization: one seek for each, instead of an index row for each request. */
const FIND = {
  sqlite: `${SELECT} AND org_id IN (SELECT org_id FROM organization)`,
  postgresql: `${SELECT} AND org_id = ANY (ARRAY(SELECT org_id FROM organization))`,
};

/** Finds a request whose organization the caller does not know. Throws `UnreadableRecord` for a damaged one. */
export function* findRequest(requestId: string): Query<RequestRecord | null> {
  const [row] = yield* ask(FIND, [requestId]);
  return row === undefined ? null : readable(`the record of request ${requestId}`, () => requestOf(row));
}

/** Null when it is not kept. Throws `UnreadableRecord` for a damaged one. */
export function* findAnswer(
  place: { organizationId: string; requestId: string },
  dataKey: Uint8Array,
): Query<StoredAnswer | null> {
  const [row] = yield* ask("SELECT sealed FROM result WHERE org_id = ?1 AND request_id = ?2", [
    place.organizationId,
    place.requestId,
  ]);
  if (row === undefined) return null;
  return readable(`the stored answer of ${place.requestId}`, () =>
    openAnswer(dataKey, place, bytesOf(row["sealed"])),
  );
}

function requestOf(row: SqlRow): RequestRecord {
  const tier = textOf(row["tier"]) as Tier;
  const errorCode = orNull(row["error_code"], textOf);
  return {
    requestId: textOf(row["request_id"]),
    organizationId: textOf(row["org_id"]),
    keyId: textOf(row["key_id"]),
    idempotencyKey: orNull(row["idem_key"], textOf),
    model: textOf(row["model"]),
    tier,
    researchMode: tier === "research",
    state: stateOf(textOf(row["state"]), errorCode),
    stream: flagOf(row["stream"]),
    admittedAtMs: numberOf(row["admitted_at"]),
    endedAtMs: orNull(row["ended_at"], numberOf),
    month: textOf(row["month"]),
    hold: moneyOf(row["hold"]),
    promptBound: numberOf(row["prompt_bound"]),
    outputBound: numberOf(row["output_bound"]),
    releaseDigest: textOf(row["release_digest"]),
    evidence: orNull(row["evidence"], evidenceOf),
    usage: usageOf(row),
    charge: moneyOf(row["charge"]),
    variance: moneyOf(row["variance"]),
    minimumApplied: flagOf(row["minimum_applied"]),
    status: orNull(row["status"], numberOf),
    errorCode,
    finishReason: orNull(row["finish_reason"], textOf),
    firstPartMs: orNull(row["first_part_ms"], numberOf),
    totalMs: orNull(row["total_ms"], numberOf),
    attempts: attemptsOf(textOf(row["attempts"])),
  };
}

/** It is printed as it stands, on receipts and in answers. */
function evidenceOf(cell: unknown): Evidence {
  const found = EVIDENCE.find((evidence) => evidence === cell);
  if (found === undefined) throw new Error("its evidence is none");
  return found;
}

function attemptsOf(printed: string): AttemptRecord[] {
  const attempts = attemptsIn(printed);
  if (attempts === null) throw new Error("its attempts are no list");
  return attempts;
}

function stateOf(state: string, errorCode: string | null): RequestRecord["state"] {
  if (state === "admitted" || state === "dispatched") return "running";
  if (state === "settled") return "settled";
  return errorCode === OWNER_LOST ? "outcome_unknown" : "released";
}

/** Null while it runs, though a checkpoint may have noted its prompt. */
function usageOf(row: SqlRow): TokenUsage | null {
  const prompt = orNull(row["prompt_tokens"], numberOf);
  const completion = orNull(row["completion_tokens"], numberOf);
  if (prompt === null || completion === null) return null;
  return {
    promptTokens: prompt,
    completionTokens: completion,
    cachedTokens: orNull(row["cached_tokens"], numberOf),
    reasoningTokens: orNull(row["reasoning_tokens"], numberOf),
  };
}
