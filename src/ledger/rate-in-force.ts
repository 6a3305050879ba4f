// Which limits hold for a subject: an operator's word, or else the default, or else what an operator set on a model for every
// organization; and what the organization set for itself, where that is lower.
import {
  NO_RATE_LIMITS,
  type RateDefaults,
  type RateLimits,
  type RatePlace,
  type RateSubject,
  tighter,
} from "../domain/rate-limits.ts";
import { microseconds, soundTat } from "../limits/gcra.ts";
import type { RateLimitRow } from "./rows.ts";
import { LIFT_AT_MOST_MS } from "./stamp.ts";

/** What a row says, apart from what is taken. */
type Set = Pick<
  RateLimitRow,
  keyof RateLimits | "ownRequestsPerMinute" | "ownTokensPerMinute" | "ownConcurrent"
>;

/** What holds for a subject of which nothing is set. `ofEach`: what is set on its model for every organization. */
export function standardOf(
  subject: RateSubject,
  { defaults, ofEach }: { defaults: RateDefaults; ofEach: RateLimits | undefined },
): RateLimits {
  if (subject === "organization" || subject === "key") return defaults[subject];
  return (subject === "model" ? ofEach : undefined) ?? NO_RATE_LIMITS;
}

/** Of a subject of which nothing is set and nothing was taken, but `running` of its requests. */
export const unsetRow = (
  { organizationId, keyId, model }: RatePlace,
  { running, since }: Pick<RateLimitRow, "running" | "since">,
): RateLimitRow => ({
  organizationId,
  keyId,
  model,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrent: null,
  ownRequestsPerMinute: null,
  ownTokensPerMinute: null,
  ownConcurrent: null,
  requestsTat: 0,
  tokensTat: 0,
  usedTat: 0,
  running,
  since,
});

/** Sets right what cannot be: one damaged row shuts nobody out for long, and keeps no batch from its end. */
export function mendRate(row: RateLimitRow, nowUs: number): void {
  row.requestsTat = soundTat(row.requestsTat, nowUs);
  row.tokensTat = soundTat(row.tokensTat, nowUs);
  row.usedTat = soundTat(row.usedTat, nowUs);
  if (!(microseconds(row.since - LIFT_AT_MOST_MS) <= nowUs && row.since >= 0)) row.since = 0;
  row.running = soundCount(row.running);
}

/** The sweeper sets right what is wrong by less. */
export const soundCount = (running: number): number => (Number.isSafeInteger(running) ? running : 0);

/** What an operator allows. */
export const allowed = (row: RateLimits, standard: RateLimits): RateLimits => ({
  requestsPerMinute: row.requestsPerMinute ?? standard.requestsPerMinute,
  tokensPerMinute: row.tokensPerMinute ?? standard.tokensPerMinute,
  concurrent: row.concurrent ?? standard.concurrent,
});

/** What the organization set for itself. */
export const ownOf = (row: Set): RateLimits => ({
  requestsPerMinute: row.ownRequestsPerMinute,
  tokensPerMinute: row.ownTokensPerMinute,
  concurrent: row.ownConcurrent,
});

/** What holds now: what an operator allows, or less where the organization set less for itself. */
export const inForce = (row: Set, standard: RateLimits): RateLimits =>
  tighter(allowed(row, standard), ownOf(row));

/** Of which of the four subjects a place speaks; an empty `keyId` or `model` stands for any. */
export const subjectOf = ({ keyId, model }: { keyId: string; model: string }): RateSubject =>
  keyId === "" ? (model === "" ? "organization" : "model") : model === "" ? "key" : "key_model";
