// Lists the columns that the ledger writes and loads, in both stores. Add a new one to its list here and
// to `store/tables.ts`: rows, their types, statements, parameters and records follow (`column-map.ts`).
import { load } from "./column-loads.ts";
import { insert, remove, update } from "./column-writes.ts";

// ── What a batch is decided on ──────────────────────────────────────────────────────────────────────────────────

export const LOAD = {
  balance: load(
    "org_balance",
    "org_id available held debt purchased granted spent version head_hash stamped_at limited",
  ),
  key: load(
    "api_key",
    "org_id key_id digest scope limit_nano revoked_at paused_at expires_at day_limit_nano week_limit_nano allowed_models max_output_tokens",
  ),
  keyMonth: load("key_month", "org_id key_id month held spent last_admitted_at"),
  claim: load("claim", "org_id key_id idem_key fingerprint request_id"),
  /** Columns of the request that holds a claim. */
  claiming: load("request", "state answer_until claim_until"),
  request: load(
    "request",
    "org_id request_id key_id idem_key model state epoch closed_txn admitted_at month hold prompt_bound output_bound",
    { checkpointed: "delivered_tokens IS NOT NULL", lowered: "lowered_txn IS NOT NULL" },
  ),
  entitlement: load("entitlement", "org_id model state expires_at"),
  routeState: load("route_state", "route highest_version disabled limited"),
  rateLimit: load(
    "rate_limit",
    "org_id key_id model requests_per_minute tokens_per_minute concurrent own_requests_per_minute own_tokens_per_minute own_concurrent requests_tat tokens_tat used_tat running since",
  ),
  routeRelease: load("route_release", "digest expires_at"),
  topUp: load("topup", "org_id source external_id amount kind balance_after"),
  reversal: load("reversal", "org_id source external_id amount kind target balance_after debt_after"),
  refundable: load("request", "org_id request_id charge"),
};

// ── What people, recovery and verification read ────────────────────────────────────────────────────────────────────

/** Columns of a request's record. */
export const RECORD = load(
  "request",
  "org_id request_id key_id idem_key model tier state stream admitted_at ended_at month hold prompt_bound output_bound release_digest evidence prompt_tokens completion_tokens cached_tokens reasoning_tokens usage_classes charge variance minimum_applied status error_code finish_reason first_part_ms total_ms attempts surface",
);
/** Columns of a request that its invariants need. */
export const TO_VERIFY = load(
  "request",
  "org_id request_id model tier state hold charge variance minimum_applied evidence prompt_tokens completion_tokens cached_tokens usage_classes release_digest admitted_at month deadline_at attempts prompt_bound output_bound surface",
);
/** Columns of an entry that the chain check needs. */
export const ENTRY = load(
  "ledger_entry",
  "org_id slot version txn kind debit credit amount available_before available_after held_before held_after requests reference at prev_hash hash",
);

// ── What a batch writes ─────────────────────────────────────────────────────────────────────────────────────────

/** Not ended yet. Gateways on PostgreSQL left rows `admitted` before a request became durable in one commit (decision 75). */
const UNFINISHED = "t.state IN ('admitted', 'dispatched')";

export const WRITE = {
  freeClaim: remove("free_claim", "claim", "org_id key_id idem_key request_id"),
  noteProgress: update("note_progress", "request", {
    key: "org_id request_id epoch",
    set: "release_digest prompt_tokens delivered_tokens attempts",
    where: "t.state = 'dispatched'",
  }),
  // A chunk whose commit was not known to be durable is written again, together with what was sent since.
  keepChunk: insert("stream_chunk", "org_id request_id seq sealed", {
    over: { key: "org_id request_id seq", set: "sealed" },
  }),
  lowerHold: update("lower_hold", "request", {
    key: "org_id request_id epoch",
    set: "hold prompt_bound lowered lowered_txn",
    read: "hold",
    where: `t.lowered_txn IS NULL AND ${UNFINISHED}`,
  }),
  close: update("close_request", "request", {
    key: "org_id request_id epoch",
    set: "state closed_txn ended_at evidence prompt_tokens completion_tokens cached_tokens reasoning_tokens usage_classes charge variance minimum_applied status error_code finish_reason first_part_ms total_ms attempts answer_until claim_until",
    kept: "release_digest",
    read: "hold",
    where: UNFINISHED,
  }),
  dropChunks: remove("drop_chunks", "stream_chunk", "org_id request_id"),
  open: insert(
    "request",
    "org_id request_id key_id idem_key model tier stream epoch admitted_at deadline_at month release_digest hold prompt_bound output_bound opened_txn surface",
    { fixed: { state: "'dispatched'" } },
  ),
  // Replaces only an expired claim; decisions see all others.
  takeClaim: insert("claim", "org_id key_id idem_key fingerprint request_id expires_at", {
    over: { key: "org_id key_id idem_key", set: "fingerprint request_id expires_at" },
  }),
  keepAnswer: insert("result", "org_id request_id sealed expires_at", { large: true }),
  keyMonth: insert("key_month", "org_id key_id month held spent last_admitted_at", {
    over: { key: "org_id key_id month", set: "held spent last_admitted_at" },
  }),
  // Columns that were set stay as they are. A row with none set exists for a default limit of the configuration or of a model.
  rateLimit: insert("rate_limit", "org_id key_id model requests_tat tokens_tat used_tat running since", {
    over: { key: "org_id key_id model", set: "requests_tat tokens_tat used_tat running since" },
  }),
  noteHold: insert("key_hold", "org_id key_id request_id"),
  forgetHold: remove("forget_hold", "key_hold", "org_id key_id request_id"),
  usageHour: insert(
    "usage_hour",
    "org_id key_id model hour requests input_tokens cached_tokens cache_write_tokens output_tokens charge",
    {
      added: {
        key: "org_id key_id model hour",
        set: "requests input_tokens cached_tokens cache_write_tokens output_tokens charge",
      },
    },
  ),
  entry: insert(
    "ledger_entry",
    "org_id slot version txn kind debit credit amount available_before available_after held_before held_after requests reference at prev_hash hash",
  ),
  balance: update("update_balance", "org_balance", {
    key: "org_id",
    set: "available held debt purchased granted spent version head_hash stamped_at limited",
    read: "version",
    where: "t.slot = 0",
  }),
  topUp: insert("topup", "org_id source external_id kind amount balance_after txn at"),
  reversal: insert(
    "reversal",
    "org_id source external_id kind target amount balance_after debt_after txn at",
  ),
  endByHand: update("end_by_hand", "quarantine", {
    key: "org_id request_id",
    set: "decided_at decided_by decided_reason charge",
    where: "t.decided_at IS NULL",
  }),
};
