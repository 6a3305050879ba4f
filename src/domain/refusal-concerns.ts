// What a refusal is about beyond its code, so that refusals can be counted by it and link to it.
import type { RefusalCode } from "./refusals.ts";

/** Refusals about one key: fixed by its settings or by using another key. */
export const ABOUT_KEY: readonly RefusalCode[] = [
  "api_key_revoked",
  "api_key_paused",
  "api_key_expired",
  "key_spend_limit_reached",
  "scope_not_permitted",
  "model_not_allowed",
  "rate_limit_exceeded",
];

/** Refusals about one model; `model_not_allowed` is about both. */
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
