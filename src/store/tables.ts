// The tables of the store as readers see them, in both databases. `test/store/tables.test.ts` compares this with the
// migrated schemas, so that a row's type matches the row. Whole numbers come as bigint from SQLite and PostgreSQL alike.
import type { NanoUsd } from "../domain/money.ts";

/** Columns by kind of content; names are separated by spaces. */
export interface Columns {
  text?: string;
  textOrNull?: string;
  whole?: string;
  wholeOrNull?: string;
  /** NanoUsd. */
  money?: string;
  moneyOrNull?: string;
  bytes?: string;
  /** A whole number on SQLite, a boolean on PostgreSQL: read with `isSet`. */
  flag?: string;
  /** Text that the schema restricts to these values. */
  oneOf?: Record<string, string>;
  oneOfOrNull?: Record<string, string>;
  /** Columns that exist in only one of the stores. */
  only?: { sqlite?: string; postgresql?: string };
}

export const TABLES = {
  alert_attempt: {
    text: "delivery_id",
    textOrNull: "error",
    whole: "n at duration_ms",
    wholeOrNull: "status",
  },
  alert_channel: {
    text: "channel_id org_id kind name target secret",
    whole: "created_at",
    wholeOrNull: "removed_at",
  },
  alert_delivery: {
    text: "delivery_id org_id channel_id kind text payload",
    textOrNull: "rule_id error",
    oneOf: { state: "waiting delivered failed" },
    whole: "tries created_at",
    wholeOrNull: "status next_try_at",
  },
  alert_rule: {
    text: "rule_id org_id kind channels",
    textOrNull: "key_id",
    whole: "enabled created_at",
    wholeOrNull: "percent days last_fired_at",
    moneyOrNull: "amount",
  },
  alert_state: { text: "rule_id subject crossing_id", whole: "since" },
  api_key: {
    text: "org_id key_id name prefix",
    textOrNull: "allowed_models last_four",
    bytes: "digest",
    oneOf: { scope: "standard research" },
    moneyOrNull: "limit_nano day_limit_nano week_limit_nano",
    whole: "created_at",
    wholeOrNull: "revoked_at paused_at expires_at max_output_tokens",
  },
  audit_carried: { text: "id", whole: "carried_at" },
  audit_log: {
    text: "id actor action target",
    textOrNull: "org_id value_before value_after address request_id",
    whole: "seq at",
    only: { sqlite: "seq", postgresql: "id" },
  },
  auto_top_up: {
    text: "org_id",
    textOrNull: "last_failure",
    whole: "enabled failures",
    wholeOrNull: "failed_at next_try_at",
    money: "threshold amount",
    moneyOrNull: "monthly_cap",
  },
  claim: { text: "org_id key_id idem_key request_id", bytes: "fingerprint", whole: "expires_at" },
  device_login: {
    text: "id device_digest user_digest host version",
    textOrNull: "address decided_by",
    oneOf: { state: "open approved declined fetched" },
    whole: "asked_at expires_at interval_ms",
    wholeOrNull: "polled_at",
  },
  device_try: { text: "place", whole: "at" },
  entitlement: {
    text: "org_id model id project requested_by",
    textOrNull: "approved_by",
    oneOf: { state: "requested active revoked" },
    whole: "created_at",
    wholeOrNull: "approved_at expires_at revoked_at",
  },
  entitlement_note: {
    text: "entitlement_id purpose",
    textOrNull: "decided_by note",
    oneOfOrNull: { outcome: "declined withdrawn" },
    wholeOrNull: "wanted_until",
  },
  instance: {
    text: "name",
    whole: "epoch started_at lease_until",
    flag: "condemned",
    only: { postgresql: "epoch name started_at lease_until condemned" },
  },
  /** The request log: requests that held nothing. */
  journal: {
    text: "request_id org_id key_id",
    textOrNull: "code model replay_of idempotency_key details surface",
    oneOf: { kind: "refused replay" },
    whole: "at status stream requests",
    wholeOrNull: "waited_ms last_at prompt_bound prompt_counted output_bound",
    moneyOrNull: "hold",
  },
  /** Requests of keys that count days, including ended ones. */
  key_hold: { text: "org_id key_id request_id" },
  key_month: { text: "org_id key_id month", money: "held spent", whole: "last_admitted_at" },
  ledger_entry: {
    text: "org_id kind debit credit",
    textOrNull: "reference",
    whole: "slot version txn requests at",
    money: "amount available_before available_after held_before held_after",
    bytes: "prev_hash hash",
  },
  management_key: {
    text: "id name prefix",
    textOrNull: "login_of",
    bytes: "digest",
    whole: "created_at",
    wholeOrNull: "revoked_at expires_at last_used_at",
  },
  org_balance: {
    text: "org_id",
    whole: "slot version stamped_at limited",
    money: "available held debt purchased granted spent",
    bytes: "head_hash",
  },
  organization: { text: "org_id name", whole: "created_at" },
  payment_event: {
    text: "driver event_id type outcome",
    textOrNull: "org_id order_id detail reversal_id",
    whole: "deliveries received_at",
  },
  payment_method: { text: "org_id driver customer_id method_id label", whole: "saved_at" },
  payment_order: {
    text: "order_id org_id driver currency created_by",
    textOrNull: "session_id payment_id pay_url reason form_key",
    oneOf: { purpose: "checkout auto_top_up", state: "open credited failed expired" },
    money: "amount",
    whole: "created_at",
    wholeOrNull: "ended_at",
  },
  provider_breaker: { text: "provider reason opened_by", whole: "opened_at" },
  quarantine: {
    text: "org_id request_id reason",
    textOrNull: "decided_by decided_reason",
    whole: "since",
    wholeOrNull: "decided_at",
    moneyOrNull: "charge",
  },
  rate_limit: {
    text: "org_id key_id model",
    whole: "requests_tat tokens_tat used_tat running since",
    wholeOrNull:
      "requests_per_minute tokens_per_minute concurrent own_requests_per_minute own_tokens_per_minute own_concurrent",
  },
  /** Public keys that signed receipts before the data key was changed. */
  receipt_key: { text: "kid x", whole: "retired_at" },
  request: {
    text: "org_id request_id key_id model tier month release_digest attempts",
    textOrNull: "idem_key evidence error_code finish_reason usage_classes surface",
    oneOf: { state: "admitted dispatched settled released" },
    whole: "epoch admitted_at deadline_at prompt_bound output_bound opened_txn",
    wholeOrNull:
      "closed_txn ended_at prompt_tokens completion_tokens cached_tokens reasoning_tokens delivered_tokens status first_part_ms total_ms answer_until claim_until lowered_txn",
    money: "hold charge variance lowered",
    flag: "stream minimum_applied",
  },
  result: { text: "org_id request_id", bytes: "sealed", whole: "expires_at" },
  reversal: {
    text: "org_id source external_id target",
    oneOf: { kind: "chargeback refund" },
    money: "amount balance_after debt_after",
    whole: "txn at",
  },
  route_release: {
    text: "route digest jws manifest signed_by",
    whole: "version expires_at published_at",
  },
  route_state: {
    text: "route",
    textOrNull: "reason",
    whole: "highest_version since limited",
    flag: "disabled",
  },
  schema_migration: { text: "name checksum", whole: "version applied_at" },
  /** Paid calls are refused while `since` is set. */
  stopped_organization: {
    text: "org_id violations base",
    textOrNull: "resumed_by resumed_reason accepted",
    wholeOrNull: "since resumed_at",
  },
  store_state: { whole: "id epoch", bytes: "data_key_check" },
  stream_chunk: { text: "org_id request_id", whole: "seq", bytes: "sealed" },
  topup: {
    text: "org_id source external_id",
    oneOf: { kind: "purchase grant" },
    money: "amount balance_after",
    whole: "txn at",
  },
  usage_hour: {
    text: "org_id key_id model",
    whole: "hour requests input_tokens cached_tokens cache_write_tokens output_tokens",
    money: "charge",
  },
} as const satisfies Record<string, Columns>;

/** The kinds of column content. */
export type Kind = Exclude<keyof Columns, "only">;

/** Returns the kind of a column. Throws if the table does not have it. */
export function kindOf(table: keyof typeof TABLES, column: string): Kind {
  const columns: Columns = TABLES[table];
  for (const [kind, listed] of Object.entries(columns) as [keyof Columns, string | object][]) {
    const names = typeof listed === "string" ? listed.split(" ") : Object.keys(listed);
    if (kind !== "only" && names.includes(column)) return kind;
  }
  throw new Error(`${table} has no column ${column}`);
}

/** The words of a space-separated list. */
export type Names<Text, Found = never> = Text extends `${infer Head} ${infer Rest}`
  ? Names<Rest, Found | Head>
  : Found | Text;
type Of<Table, Kind extends keyof Columns> =
  Table extends Record<Kind, infer Text> ? Names<Text> & string : never;
type Choices<Table, Kind extends keyof Columns> =
  Table extends Record<Kind, infer Lists> ? { [Name in keyof Lists]: Names<Lists[Name]> } : unknown;
type OrNull<T> = { [Name in keyof T]: T[Name] | null };

type RowOf<Table> = Record<Of<Table, "text">, string> &
  Record<Of<Table, "textOrNull">, string | null> &
  Record<Of<Table, "whole">, bigint> &
  Record<Of<Table, "wholeOrNull">, bigint | null> &
  Record<Of<Table, "money">, NanoUsd> &
  Record<Of<Table, "moneyOrNull">, NanoUsd | null> &
  Record<Of<Table, "bytes">, Uint8Array> &
  Record<Of<Table, "flag">, bigint | boolean> &
  Choices<Table, "oneOf"> &
  OrNull<Choices<Table, "oneOfOrNull">>;

type Plain<T> = { [Name in keyof T]: T[Name] };
/** Every table with its row. */
export type Tables = { [Name in keyof typeof TABLES]: Plain<RowOf<(typeof TABLES)[Name]>> };
