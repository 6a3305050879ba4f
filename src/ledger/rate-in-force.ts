// Determines the limits of a subject: what an operator set, else the default, else what an operator
// set on a model for every organization; and what the organization set for itself if that is lower.
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

/** The limits set in a row, without what is taken. */
type Set = Pick<
  RateLimitRow,
  keyof RateLimits | "ownRequestsPerMinute" | "ownTokensPerMinute" | "ownConcurrent"
>;

/** Returns the limits of a subject that has none set. `ofEach`: the limits set on its model for every organization. */
export function standardOf(
  subject: RateSubject,
  { defaults, ofEach }: { defaults: RateDefaults; ofEach: RateLimits | undefined },
): RateLimits {
  if (subject === "organization" || subject === "key") return defaults[subject];
  return (subject === "model" ? ofEach : undefined) ?? NO_RATE_LIMITS;
}

/** Returns the row of a subject that has nothing set and nothing taken, with `running` of its requests. */
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

/** Repairs impossible values, so that one damaged row blocks nobody for long and stops no batch. */
export function mendRate(row: RateLimitRow, nowUs: number): void {
  row.requestsTat = soundTat(row.requestsTat, nowUs);
  row.tokensTat = soundTat(row.tokensTat, nowUs);
  row.usedTat = soundTat(row.usedTat, nowUs);
  if (!(microseconds(row.since - LIFT_AT_MOST_MS) <= nowUs && row.since >= 0)) row.since = 0;
  row.running = soundCount(row.running);
}

/** The sweeper corrects smaller errors. */
export const soundCount = (running: number): number => (Number.isSafeInteger(running) ? running : 0);

/** The limits that an operator allows. */
export const allowed = (row: RateLimits, standard: RateLimits): RateLimits => ({
  requestsPerMinute: row.requestsPerMinute ?? standard.requestsPerMinute,
  tokensPerMinute: row.tokensPerMinute ?? standard.tokensPerMinute,
  concurrent: row.concurrent ?? standard.concurrent,
});

/** The limits that the organization set for itself. */
export const ownOf = (row: Set): RateLimits => ({
  requestsPerMinute: row.ownRequestsPerMinute,
  tokensPerMinute: row.ownTokensPerMinute,
  concurrent: row.ownConcurrent,
});

/** The limits in force: what an operator allows, or less if the organization set less for itself. */
export const inForce = (row: Set, standard: RateLimits): RateLimits =>
  tighter(allowed(row, standard), ownOf(row));

/** Returns which of the four subjects a place refers to; an empty `keyId` or `model` stands for any. */
export const subjectOf = ({ keyId, model }: { keyId: string; model: string }): RateSubject =>
  keyId === "" ? (model === "" ? "organization" : "model") : model === "" ? "key" : "key_model";
