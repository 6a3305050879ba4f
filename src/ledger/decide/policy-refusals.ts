// The ledger's refusals for policy reasons (money.md §10, wire.md §4). Each text tells its reader what to do
// next. Money is never refused as 429; a request refused here holds nothing and leaves the idempotency key free.
import { type NanoUsd, formatUsd } from "../../domain/money.ts";
import { Refusal } from "../../domain/refusals.ts";
import type { Tier } from "../../domain/gateway-object.ts";
import { printTime } from "../../domain/print.ts";
import { LIMIT_NAMES, type LimitedSpan } from "../key-spans.ts";
import type { BalanceRow, RouteRow } from "../rows.ts";

/** 401, step 2 of money.md §7: returned only to callers that hold the whole key. */
export const apiKeyRevoked = (): Refusal =>
  new Refusal("api_key_revoked", "This API key was revoked and cannot be restored. Use another key.", {
    headers: { "www-authenticate": "Bearer" },
  });

/** 401, as for a revoked key; the only one of the three that can be undone. */
export const apiKeyPaused = (): Refusal =>
  new Refusal(
    "api_key_paused",
    "This API key is paused. Resume it in the dashboard or with `tollgate keys resume`, or use another key.",
    { headers: { "www-authenticate": "Bearer" } },
  );

/** 401, as for a revoked key. */
export const apiKeyExpired = (expiresAtMs: number): Refusal =>
  new Refusal(
    "api_key_expired",
    `This API key expired at ${printTime(expiresAtMs)} and cannot be restored. Use another key.`,
    { headers: { "www-authenticate": "Bearer" } },
  );

/** 422, step 4 of money.md §7: the fingerprint differs from that of the first request. */
export const keyReused = (): Refusal =>
  new Refusal(
    "idempotency_key_reused",
    "This Idempotency-Key was used before with a different request. Send a new key for each request and repeat a key only to retry the identical request; a key set in a client's default headers is sent with every call.",
    { param: "Idempotency-Key" },
  );

/** 409: the answer's retention has ended, the claim's has not (money.md §8). */
export const keyExpired = (): Refusal =>
  new Refusal(
    "idempotency_key_expired",
    "The answer stored under this Idempotency-Key is no longer kept, and the request is not run a second time. Send a new key to run it again.",
    { param: "Idempotency-Key" },
  );

/** 409: released without an answer of its own; its owner died, and it is unknown whether the provider ran it. */
export const outcomeUnknown = (requestId: string): Refusal =>
  new Refusal(
    "idempotency_outcome_unknown",
    `The first request under this Idempotency-Key (${requestId}) was interrupted and its outcome is not known; it was not charged and is not run a second time. Send a new key to run it again.`,
    { param: "Idempotency-Key" },
  );

/** 409 while the request waits for an operator; its hold stays. */
export const inQuarantine = (requestId: string): Refusal =>
  new Refusal(
    "idempotency_outcome_unknown",
    `The first request under this Idempotency-Key (${requestId}) was interrupted and its record is damaged; its credits stay held until the operator has decided about it, and it is not run a second time. Send a new key to run it again, and tell the operator this id.`,
    { param: "Idempotency-Key" },
  );

/** 409 for a claim whose request is not in the store: this is damage, and no reason to run it again. */
export const requestMissing = (requestId: string): Refusal =>
  new Refusal(
    "idempotency_outcome_unknown",
    `The record of the first request under this Idempotency-Key (${requestId}) is damaged, and it is not run a second time. Send a new key to run it again, and tell the operator this id.`,
    { param: "Idempotency-Key" },
  );

/** 409 for a stored answer that cannot be opened, under this data key or any other. */
export const resultUnreadable = (requestId: string): Refusal =>
  new Refusal(
    "idempotency_result_not_retained",
    `The first request under this Idempotency-Key (${requestId}) finished, but its stored answer is damaged and cannot be read. GET /v1/generation?id=${requestId} shows its usage; send a new key to run it again.`,
    { param: "Idempotency-Key" },
  );

/** 409 for a settled request without a stored answer. */
export const resultNotRetained = (requestId: string): Refusal =>
  new Refusal(
    "idempotency_result_not_retained",
    `The first request under this Idempotency-Key (${requestId}) finished and was charged once, but its answer is not kept: it was too large, or an operator ended the request. GET /v1/generation?id=${requestId} shows its usage; send a new key to run it again.`,
    { param: "Idempotency-Key" },
  );

/** 503, step 5 of money.md §7: disabled by an operator, for every gateway. */
export const routeDisabled = (route: RouteRow | undefined): Refusal =>
  new Refusal(
    "route_disabled",
    "The route of this model was disabled by the operator. Choose another model, or ask the operator.",
    { details: { state: "disabled", release_version: route?.highestVersion ?? null, next_probe_at: null } },
  );

/** 503, step 5 of money.md §7: another version has been published, or the signed one has expired. */
export const routeStale = (route: RouteRow | undefined): Refusal =>
  new Refusal(
    "route_release_stale",
    "The signed release of this model's route has expired or was superseded. Choose another model, or ask the operator to publish a current release.",
    { details: { state: "stale", release_version: route?.highestVersion ?? null, next_probe_at: null } },
  );

/** 403, step 6 of money.md §7: no scope includes another. */
export function scopeNotPermitted(scope: Tier, model: string): Refusal {
  const text =
    scope === "standard"
      ? `The model \`${model}\` is a Research Mode model; this key has the scope standard. Use a key with the scope research.`
      : `This key has the scope research and may call only Research Mode models; \`${model}\` is not one. Use a key with the scope standard.`;
  return new Refusal("scope_not_permitted", text);
}

/** 403, step 6 of money.md §7: names the first ten allowed models. */
export function modelNotAllowed(model: string, allowed: readonly string[]): Refusal {
  const named = allowed.slice(0, NAMED_AT_MOST).map((one) => `\`${one}\``);
  const others = allowed.length > named.length ? ` and ${allowed.length - named.length} more` : "";
  const may = named.length === 0 ? "no model" : `${named.join(", ")}${others}`;
  return new Refusal(
    "model_not_allowed",
    `This key may use ${may}; \`${model}\` is not among them. Allow it in the key's settings, or use another key.`,
    { param: "model" },
  );
}
const NAMED_AT_MOST = 10;

/** The key's output maximum was lowered between the first read of the key and COMMIT 1: the gateway prices the request again. */
export const outputLowered = (): Refusal =>
  new Refusal("overloaded", "The settings of this key changed while the request was read. Send it again.", {
    retryAfterMs: 500,
  });

/** A long prompt is to be counted before it reserves much of a token limit: the gateway counts it and asks again. */
export const countFirst = (): Refusal =>
  new Refusal("overloaded", "The prompt could not be counted. Send the request again.", {
    retryAfterMs: 500,
  });

/** 403, step 7 of money.md §7: no active entitlement names this model. */
export const entitlementRequired = (model: string): Refusal =>
  new Refusal(
    "research_entitlement_required",
    `The model \`${model}\` needs an active Research Mode entitlement that names it, and this organization holds none. Ask the operator to approve one.`,
  );

/** 403, step 8 of money.md §7: nothing was ever purchased. */
export const paidWorkspaceRequired = (model: string): Refusal =>
  new Refusal(
    "paid_workspace_required",
    `The model \`${model}\` is available only to paid workspaces. Buy credits once to use it; granted credits do not count.`,
  );

/** 503, step 8 of money.md §7: the organization's books do not add up (§5), and only an operator knows when they will. */
export const organizationStopped = (): Refusal =>
  new Refusal(
    "organization_stopped",
    "The credits of this organization do not match its records, so its calls that cost anything are refused until the operator has corrected them. Nothing was charged or held; other organizations are not affected. Ask the operator, who has been notified.",
  );

/** 403, step 10 of money.md §7: the limit of the key's day, week or month, whichever is reached first. */
export function keyLimitReached({ period, limit, spent, held, resetsAtMs }: LimitedSpan): Refusal {
  const resetsAt = printTime(resetsAtMs);
  return new Refusal(
    "key_spend_limit_reached",
    `This key has reached its ${LIMIT_NAMES[period]} spend limit of $${formatUsd(limit)}: $${formatUsd(spent)} spent, $${formatUsd(held)} held by running requests. Raise the key's limit, use another key, or wait until ${resetsAt}.`,
    {
      details: {
        period,
        limit_usd: formatUsd(limit),
        spent_usd: formatUsd(spent),
        held_usd: formatUsd(held),
        resets_at: resetsAt,
      },
    },
  );
}

/** 402, step 11 of money.md §7: the hold exceeds the available balance; any debt is reported, too. */
export function insufficientCredits(hold: NanoUsd, balance: BalanceRow): Refusal {
  const running = balance.held > 0n ? `, $${formatUsd(balance.held)} more is held by running requests` : "";
  const owed = balance.debt > 0n ? ` and $${formatUsd(balance.debt)} is owed from a disputed payment` : "";
  return new Refusal(
    "insufficient_credits",
    `This request may cost up to $${formatUsd(hold)}, but $${formatUsd(balance.available)} of credits is available${running}${owed}.`,
    {
      details: {
        required_usd: formatUsd(hold),
        available_usd: formatUsd(balance.available),
        held_usd: formatUsd(balance.held),
        ...(balance.debt > 0n && { debt_usd: formatUsd(balance.debt) }),
      },
    },
  );
}
