// Writes what a batch decided: one statement per table over arrays, every money update conditional on what was read.
// All statements leave together, the commit behind them, so a statement that did not hit exactly its rows must fail by
// itself: that aborts the transaction before the commit is read (money.md §7, §11).
import { sealAnswer, sealChunk } from "../answer-vault.ts";
import { type Asking, ask, columnsOf, type Statement, statement } from "./query.ts";
import { auditLine } from "../../store/audit-log.ts";
import { sent as inPostgres } from "../../store/postgres-sql.ts";
import type { Changes } from "../rows.ts";

/** Fails with a division by zero unless as many rows changed as the parameter after the arrays says. */
const exactly = (change: string, parameter: number): string =>
  `WITH changed AS (${change} RETURNING 1) SELECT 1 / (count(*) = $${parameter}::bigint)::int FROM changed`;

const unnest = (types: readonly string[]): string =>
  `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(", ")})`;

/** A statement over rows: how each of its parameters is read from a row. */
interface Writing<Row> {
  write: Statement;
  columns: readonly ((row: Row) => unknown)[];
}

const insert = <Row>(
  table: string,
  columns: Record<string, [type: string, of: (row: Row) => unknown]>,
  onConflict = "",
): Writing<Row> => ({
  columns: Object.values(columns).map(([, of]) => of),
  write: statement(
    `insert_${table}`,
    `INSERT INTO ${table} AS had (${Object.keys(columns).join(", ")})
     SELECT * FROM ${unnest(Object.values(columns).map(([type]) => type))} ${onConflict}`,
  ),
});

const update = <Row>(
  table: string,
  columns: Record<string, [type: string, of: (row: Row) => unknown]>,
  change: { set: string; where: string },
): Writing<Row> => ({
  columns: Object.values(columns).map(([, of]) => of),
  write: statement(
    `update_${table}`,
    exactly(
      `UPDATE ${table} AS t SET ${change.set}
       FROM ${unnest(Object.values(columns).map(([type]) => type))} AS r (${Object.keys(columns).join(", ")})
       WHERE ${change.where}`,
      Object.keys(columns).length + 1,
    ),
  ),
});

const [TEXT, INT, BYTES, FLAG] = ["text", "bigint", "bytea", "boolean"];

const FREE_CLAIM: Writing<Changes["claimsFreed"][number]> = {
  columns: [
    (row) => row.organizationId,
    (row) => row.keyId,
    (row) => row.idempotencyKey,
    (row) => row.requestId,
  ],
  write: statement(
    "free_claim",
    `DELETE FROM claim USING ${unnest([TEXT, TEXT, TEXT, TEXT])} AS r (org_id, key_id, idem_key, request_id)
     WHERE claim.org_id = r.org_id AND claim.key_id = r.key_id AND claim.idem_key = r.idem_key
       AND claim.request_id = r.request_id`,
  ),
};

const CHECKPOINT = update<Changes["checkpoints"][number]>(
  "request",
  {
    org_id: [TEXT, (row) => row.organizationId],
    request_id: [TEXT, (row) => row.requestId],
    epoch: [INT, (row) => row.epoch],
    release_digest: [TEXT, (row) => row.releaseDigest],
    prompt_tokens: [INT, (row) => row.promptTokens],
    delivered_tokens: [INT, (row) => row.deliveredTokens],
    attempts: [TEXT, (row) => JSON.stringify(row.attempts)],
  },
  {
    set: `release_digest = r.release_digest, prompt_tokens = r.prompt_tokens,
      delivered_tokens = r.delivered_tokens, attempts = r.attempts`,
    where: `t.org_id = r.org_id AND t.request_id = r.request_id AND t.epoch = r.epoch AND t.state = 'dispatched'`,
  },
);
const NOTE_PROGRESS = { ...CHECKPOINT, write: { ...CHECKPOINT.write, name: "note_progress" } };

const LOWER = update<Changes["lowered"][number]>(
  "request",
  {
    org_id: [TEXT, (row) => row.organizationId],
    request_id: [TEXT, (row) => row.requestId],
    epoch: [INT, (row) => row.epoch],
    hold_read: [INT, (row) => row.holdRead],
    hold: [INT, (row) => row.hold],
    prompt_bound: [INT, (row) => row.promptBound],
    lowered: [INT, (row) => row.amount],
    lowered_txn: [INT, (row) => row.txn],
  },
  {
    set: `hold = r.hold, prompt_bound = r.prompt_bound, lowered = r.lowered, lowered_txn = r.lowered_txn`,
    where: `t.org_id = r.org_id AND t.request_id = r.request_id AND t.epoch = r.epoch AND t.hold = r.hold_read
      AND t.lowered_txn IS NULL AND t.state IN ('admitted', 'dispatched')`,
  },
);
const LOWER_HOLD = { ...LOWER, write: { ...LOWER.write, name: "lower_hold" } };

const CLOSE = update<Changes["closed"][number]>(
  "request",
  {
    org_id: [TEXT, (row) => row.organizationId],
    request_id: [TEXT, (row) => row.requestId],
    epoch: [INT, (row) => row.epoch],
    state: [TEXT, (row) => row.state],
    closed_txn: [INT, (row) => row.closedTxn],
    ended_at: [INT, (row) => row.endedAtMs],
    release_digest: [TEXT, (row) => row.releaseDigest],
    evidence: [TEXT, (row) => row.evidence],
    prompt_tokens: [INT, (row) => row.promptTokens],
    completion_tokens: [INT, (row) => row.completionTokens],
    cached_tokens: [INT, (row) => row.cachedTokens],
    reasoning_tokens: [INT, (row) => row.reasoningTokens],
    charge: [INT, (row) => row.charge],
    variance: [INT, (row) => row.variance],
    minimum_applied: [FLAG, (row) => row.minimumApplied],
    status: [INT, (row) => row.status],
    error_code: [TEXT, (row) => row.errorCode],
    finish_reason: [TEXT, (row) => row.finishReason],
    first_part_ms: [INT, (row) => row.firstPartMs],
    total_ms: [INT, (row) => row.totalMs],
    attempts: [TEXT, (row) => row.attempts],
    answer_until: [INT, (row) => row.answerUntilMs],
    claim_until: [INT, (row) => row.claimUntilMs],
  },
  {
    set: `state = r.state, closed_txn = r.closed_txn, ended_at = r.ended_at,
      release_digest = coalesce(r.release_digest, t.release_digest), evidence = r.evidence,
      prompt_tokens = r.prompt_tokens, completion_tokens = r.completion_tokens, cached_tokens = r.cached_tokens,
      reasoning_tokens = r.reasoning_tokens, charge = r.charge, variance = r.variance,
      minimum_applied = r.minimum_applied, status = r.status, error_code = r.error_code,
      finish_reason = r.finish_reason, first_part_ms = r.first_part_ms, total_ms = r.total_ms, attempts = r.attempts,
      answer_until = r.answer_until, claim_until = r.claim_until`,
    where: `t.org_id = r.org_id AND t.request_id = r.request_id AND t.epoch = r.epoch
      AND t.state IN ('admitted', 'dispatched')`,
  },
);

const DROP_CHUNKS: Writing<Changes["chunksDropped"][number]> = {
  columns: [(row) => row.organizationId, (row) => row.requestId],
  write: statement(
    "drop_chunks",
    `DELETE FROM stream_chunk USING ${unnest([TEXT, TEXT])} AS r (org_id, request_id)
     WHERE stream_chunk.org_id = r.org_id AND stream_chunk.request_id = r.request_id`,
  ),
};

const OPEN = insert<Changes["opened"][number]>("request", {
  org_id: [TEXT, (row) => row.organizationId],
  request_id: [TEXT, (row) => row.requestId],
  key_id: [TEXT, (row) => row.keyId],
  idem_key: [TEXT, (row) => row.idempotencyKey],
  model: [TEXT, (row) => row.model],
  tier: [TEXT, (row) => row.tier],
  stream: [FLAG, (row) => row.stream],
  state: [TEXT, () => "admitted"],
  epoch: [INT, (row) => row.epoch],
  admitted_at: [INT, (row) => row.admittedAtMs],
  deadline_at: [INT, (row) => row.deadlineAtMs],
  month: [TEXT, (row) => row.month],
  release_digest: [TEXT, (row) => row.releaseDigest],
  hold: [INT, (row) => row.hold],
  prompt_bound: [INT, (row) => row.promptBound],
  output_bound: [INT, (row) => row.outputBound],
  opened_txn: [INT, (row) => row.openedTxn],
});

const TAKE_CLAIM = insert<Changes["claimsTaken"][number]>(
  "claim",
  {
    org_id: [TEXT, (row) => row.organizationId],
    key_id: [TEXT, (row) => row.keyId],
    idem_key: [TEXT, (row) => row.idempotencyKey],
    fingerprint: [BYTES, (row) => row.fingerprint],
    request_id: [TEXT, (row) => row.requestId],
    expires_at: [INT, (row) => row.expiresAtMs],
  },
  // Only over a claim whose time is over; decisions see all others.
  `ON CONFLICT (org_id, key_id, idem_key) DO UPDATE SET fingerprint = excluded.fingerprint,
     request_id = excluded.request_id, expires_at = excluded.expires_at`,
);

type KeyMonth = Changes["keyMonths"] extends Set<infer Row> ? Row : never;
const KEY_MONTH = insert<KeyMonth>(
  "key_month",
  {
    org_id: [TEXT, (row) => row.organizationId],
    key_id: [TEXT, (row) => row.keyId],
    month: [TEXT, (row) => row.month],
    held: [INT, (row) => row.held],
    spent: [INT, (row) => row.spent],
    last_admitted_at: [INT, (row) => row.lastAdmittedAtMs],
  },
  `ON CONFLICT (org_id, key_id, month) DO UPDATE SET held = excluded.held, spent = excluded.spent,
     last_admitted_at = excluded.last_admitted_at`,
);

/** A roll-up that an older program filled to the brim with what a provider told must not keep a hold from its end. */
function saturated(column: string): string {
  return `least(had.${column}, 9223372036854775807 - excluded.${column}) + excluded.${column}`;
}

type UsageHour = Changes["usageHours"] extends Map<string, infer Row> ? Row : never;
const USAGE_HOUR = insert<UsageHour>(
  "usage_hour",
  {
    org_id: [TEXT, (row) => row.organizationId],
    key_id: [TEXT, (row) => row.keyId],
    model: [TEXT, (row) => row.model],
    hour: [INT, (row) => row.hour],
    requests: [INT, (row) => row.requests],
    input_tokens: [INT, (row) => row.inputTokens],
    cached_tokens: [INT, (row) => row.cachedTokens],
    output_tokens: [INT, (row) => row.outputTokens],
    charge: [INT, (row) => row.charge],
  },
  `ON CONFLICT (org_id, key_id, model, hour) DO UPDATE SET requests = had.requests + excluded.requests,
     input_tokens = ${saturated("input_tokens")}, cached_tokens = ${saturated("cached_tokens")},
     output_tokens = ${saturated("output_tokens")}, charge = had.charge + excluded.charge`,
);

const ENTRY = insert<Changes["entries"][number]>("ledger_entry", {
  org_id: [TEXT, (row) => row.organizationId],
  slot: [INT, (row) => row.slot],
  version: [INT, (row) => row.version],
  txn: [INT, (row) => row.txn],
  kind: [TEXT, (row) => row.kind],
  debit: [TEXT, (row) => row.debit],
  credit: [TEXT, (row) => row.credit],
  amount: [INT, (row) => row.amount],
  available_before: [INT, (row) => row.availableBefore],
  available_after: [INT, (row) => row.availableAfter],
  held_before: [INT, (row) => row.heldBefore],
  held_after: [INT, (row) => row.heldAfter],
  requests: [INT, (row) => row.requests],
  reference: [TEXT, (row) => row.reference],
  at: [INT, (row) => row.atMs],
  prev_hash: [BYTES, (row) => row.prevHash],
  hash: [BYTES, (row) => row.hash],
});

const BALANCE = update<Changes["balances"][number]>(
  "org_balance",
  {
    org_id: [TEXT, ({ row }) => row.organizationId],
    available: [INT, ({ row }) => row.available],
    held: [INT, ({ row }) => row.held],
    debt: [INT, ({ row }) => row.debt],
    purchased: [INT, ({ row }) => row.purchased],
    granted: [INT, ({ row }) => row.granted],
    spent: [INT, ({ row }) => row.spent],
    version: [INT, ({ row }) => row.version],
    head_hash: [BYTES, ({ row }) => row.headHash],
    stamped_at: [INT, ({ row }) => row.stampedAtMs],
    version_read: [INT, ({ versionRead }) => versionRead],
  },
  {
    set: `available = r.available, held = r.held, debt = r.debt, purchased = r.purchased, granted = r.granted,
      spent = r.spent, version = r.version, head_hash = r.head_hash, stamped_at = r.stamped_at`,
    where: "t.org_id = r.org_id AND t.slot = 0 AND t.version = r.version_read",
  },
);

const TOP_UP = insert<Changes["topUps"][number]>("topup", {
  org_id: [TEXT, (row) => row.organizationId],
  source: [TEXT, (row) => row.source],
  external_id: [TEXT, (row) => row.externalId],
  kind: [TEXT, (row) => row.kind],
  amount: [INT, (row) => row.amount],
  balance_after: [INT, (row) => row.balanceAfter],
  txn: [INT, (row) => row.txn],
  at: [INT, (row) => row.atMs],
});

const REVERSAL = insert<Changes["reversals"][number]>("reversal", {
  org_id: [TEXT, (row) => row.organizationId],
  source: [TEXT, (row) => row.source],
  external_id: [TEXT, (row) => row.externalId],
  kind: [TEXT, (row) => row.kind],
  target: [TEXT, (row) => row.target],
  amount: [INT, (row) => row.amount],
  balance_after: [INT, (row) => row.balanceAfter],
  debt_after: [INT, (row) => row.debtAfter],
  txn: [INT, (row) => row.txn],
  at: [INT, (row) => row.atMs],
});

const END_BY_HAND = update<Changes["endedByHand"][number]>(
  "quarantine",
  {
    org_id: [TEXT, (row) => row.organizationId],
    request_id: [TEXT, (row) => row.requestId],
    decided_at: [INT, (row) => row.atMs],
    decided_by: [TEXT, (row) => row.by],
    decided_reason: [TEXT, (row) => row.reason],
    charge: [INT, (row) => row.charge],
  },
  {
    set: `decided_at = r.decided_at, decided_by = r.decided_by, decided_reason = r.decided_reason, charge = r.charge`,
    where: "t.org_id = r.org_id AND t.request_id = r.request_id AND t.decided_at IS NULL",
  },
);

const KEEP_ANSWER = statement(
  "keep_answer",
  "INSERT INTO result (org_id, request_id, sealed, expires_at) VALUES ($1, $2, $3, $4)",
);
// A chunk whose commit was not known to be durable comes again, with what was sent since.
const KEEP_CHUNK = insert<SealedChunk>(
  "stream_chunk",
  {
    org_id: [TEXT, (row) => row.organizationId],
    request_id: [TEXT, (row) => row.requestId],
    seq: [INT, (row) => row.seq],
    sealed: [BYTES, (row) => row.sealed],
  },
  "ON CONFLICT (org_id, request_id, seq) DO UPDATE SET sealed = excluded.sealed",
);

interface SealedChunk {
  organizationId: string;
  requestId: string;
  seq: number;
  sealed: Uint8Array;
}

function sealedChunks(checkpoints: Changes["checkpoints"], dataKey: Uint8Array): SealedChunk[] {
  return checkpoints.flatMap(({ organizationId, requestId, chunk }) => {
    if (chunk === null) return [];
    const sealed = sealChunk(dataKey, { organizationId, requestId }, chunk);
    return [{ organizationId, requestId, seq: chunk.seq, sealed }];
  });
}

/** Sends every statement at once; each of the promises must be awaited. Nothing is sent for an empty change. */
export function sendChanges(on: Asking, changes: Changes, dataKey: Uint8Array): Promise<unknown>[] {
  const sent: Promise<unknown>[] = [];
  const send = <Row>(
    { write, columns }: Writing<Row>,
    rows: readonly Row[],
    counted: "counted" | "any",
  ): void => {
    if (rows.length === 0) return;
    sent.push(ask(on, write, [...columnsOf(rows, columns), ...(counted === "counted" ? [rows.length] : [])]));
  };
  send(FREE_CLAIM, changes.claimsFreed, "any");
  send(NOTE_PROGRESS, newestOf(changes.checkpoints), "counted");
  send(KEEP_CHUNK, sealedChunks(changes.checkpoints, dataKey), "any");
  send(LOWER_HOLD, changes.lowered, "counted");
  send(CLOSE, changes.closed, "counted");
  send(DROP_CHUNKS, changes.chunksDropped, "any");
  send(OPEN, changes.opened, "any");
  send(TAKE_CLAIM, changes.claimsTaken, "any");
  for (const { organizationId, answer, expiresAtMs } of changes.answers) {
    const sealed = sealAnswer(dataKey, organizationId, answer);
    sent.push(ask(on, KEEP_ANSWER, [organizationId, answer.requestId, sealed, expiresAtMs]));
  }
  send(KEY_MONTH, [...changes.keyMonths], "any");
  send(USAGE_HOUR, [...changes.usageHours.values()], "any");
  send(ENTRY, changes.entries, "any");
  send(BALANCE, changes.balances, "counted");
  send(TOP_UP, changes.topUps, "any");
  send(REVERSAL, changes.reversals, "any");
  send(END_BY_HAND, changes.endedByHand, "counted");
  for (const line of changes.auditLines) sent.push(on.query(inPostgres(auditLine(line, line.atMs))));
  return sent;
}

export const isEmpty = (changes: Changes): boolean =>
  [
    changes.balances,
    changes.entries,
    changes.opened,
    changes.closed,
    changes.checkpoints,
    changes.auditLines,
  ].every(({ length }) => length === 0) && changes.keyMonths.size === 0;

/** A request that was checkpointed twice in one batch is written once: one statement may not change a row twice. */
function newestOf(checkpoints: Changes["checkpoints"]): Changes["checkpoints"] {
  return [...new Map(checkpoints.map((row) => [row.requestId, row])).values()];
}
