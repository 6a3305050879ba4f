// What a refusal is about beside its code, so that refusals are counted apart by it, and lead to it.
import type { RefusalCode } from "./refusals.ts";

/** About one key: its settings mend them, or another key does. */
export const ABOUT_KEY: readonly RefusalCode[] = [
  "api_key_revoked",
  "api_key_paused",
  "api_key_expired",
  "key_spend_limit_reached",
  "scope_not_permitted",
  "model_not_allowed",
  "rate_limit_exceeded",
];

/** About one model, and `model_not_allowed` about both. */
export const ABOUT_MODEL: readonly RefusalCode[] = [
  "route_disabled",
  "route_release_stale",
  "route_unhealthy",
  "route_unavailable",
  "model_not_found",
  "model_not_allowed",
  "context_length_exceeded",
  "unsupported_parameter",
  "unsupported_value",
  "research_entitlement_required",
  "paid_workspace_required",
];
