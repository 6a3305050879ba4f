// The table of refusals (specification 7, wire.md §4.1): one row per code. `docs/errors.md` and the tests that
// provoke each code over HTTP are compared with it.

export type RefusalType =
  | "invalid_request_error"
  | "billing_error"
  | "permission_error"
  | "idempotency_error"
  | "requests"
  | "tokens"
  | "server_error";

interface RefusalRow {
  status: number;
  type: RefusalType;
  /** `x-should-retry`: whether the official clients should retry by themselves. */
  retry: boolean;
}

const ire = (status: number): RefusalRow => ({ status, type: "invalid_request_error", retry: false });
const row = (status: number, type: RefusalType): RefusalRow => ({ status, type, retry: false });
const retryable = (status: number, type: RefusalType): RefusalRow => ({ status, type, retry: true });

export const REFUSALS = {
  invalid_api_key: ire(401),
  api_key_revoked: ire(401),
  api_key_paused: ire(401),
  api_key_expired: ire(401),
  unknown_url: ire(404),
  method_not_allowed: ire(405),
  unsupported_media_type: ire(415),
  payload_too_large: ire(413),
  invalid_json: ire(400),
  too_many_values: ire(400),
  invalid_request: ire(400),
  integer_above_max_value: ire(400),
  integer_below_min_value: ire(400),
  decimal_above_max_value: ire(400),
  decimal_below_min_value: ire(400),
  string_above_max_length: ire(400),
  array_above_max_length: ire(400),
  unknown_parameter: ire(400),
  unsupported_parameter: ire(400),
  unsupported_value: ire(400),
  raw_token_ids_not_allowed: ire(400),
  runtime_adapter_not_allowed: ire(400),
  contradictory_thinking: ire(400),
  invalid_idempotency_key: ire(400),
  context_length_exceeded: ire(400),
  content_filter: ire(400),
  model_not_found: ire(404),
  generation_not_found: ire(404),
  response_not_found: ire(404),
  receipt_not_ready: retryable(409, "invalid_request_error"),
  insufficient_credits: row(402, "billing_error"),
  key_spend_limit_reached: row(403, "billing_error"),
  scope_not_permitted: row(403, "permission_error"),
  model_not_allowed: row(403, "permission_error"),
  research_entitlement_required: row(403, "permission_error"),
  paid_workspace_required: row(403, "permission_error"),
  organization_stopped: row(503, "server_error"),
  idempotency_in_progress: retryable(409, "idempotency_error"),
  idempotency_outcome_unknown: row(409, "idempotency_error"),
  idempotency_key_expired: row(409, "idempotency_error"),
  idempotency_result_not_retained: row(409, "idempotency_error"),
  idempotency_key_reused: row(422, "idempotency_error"),
  rate_limit_exceeded: retryable(429, "requests"),
  internal_error: row(500, "server_error"),
  provider_error: row(502, "server_error"),
  provider_timeout: row(504, "server_error"),
  route_disabled: row(503, "server_error"),
  route_release_stale: row(503, "server_error"),
  route_unhealthy: retryable(503, "server_error"),
  route_unavailable: retryable(503, "server_error"),
  overloaded: retryable(503, "server_error"),
} as const satisfies Record<string, RefusalRow>;

export type RefusalCode = keyof typeof REFUSALS;

/** What a refusal may add to its table row. */
export interface RefusalExtras {
  /** Path of the offending field (`messages[2].content`), or the header's name. */
  param?: string | null;
  /** Figures that help the caller; wire.md §4 lists the members for each condition. */
  details?: Record<string, string | number | null>;
  /** Sent as `retry-after` in whole seconds, rounded up, at most 60, and as `retry-after-ms`. */
  retryAfterMs?: number;
  /**
   * Overrides the row for codes that are retryable only under a condition (502, 504; 429 of a request that alone is above a limit).
   */
  retry?: boolean;
  /** Overrides the row for token rate limits. */
  type?: RefusalType;
  /** Further response headers, such as `allow` or `www-authenticate`. */
  headers?: Record<string, string>;
}

/** A refusal by the caller's fault or by policy. Thrown or returned; turned into a response in one place, `http/reply`. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: RefusalType;
  readonly retry: boolean;
  readonly param: string | null;
  readonly details: RefusalExtras["details"];
  readonly retryAfterMs: number | undefined;
  readonly headers: Record<string, string>;

  constructor(
    readonly code: RefusalCode,
    message: string,
    extras: RefusalExtras = {},
  ) {
    super(message);
    this.name = "Refusal";
    const row = REFUSALS[code];
    this.status = row.status;
    this.type = extras.type ?? row.type;
    this.retry = extras.retry ?? row.retry;
    this.param = extras.param ?? null;
    this.details = extras.details;
    this.retryAfterMs = extras.retryAfterMs;
    this.headers = extras.headers ?? {};
  }
}
