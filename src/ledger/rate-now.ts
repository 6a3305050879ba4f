// Checks whether every request of a key would be refused now, whatever it asks for: an early look at the
// two limits that apply to all of them, before anything of a request is read. It reads what COMMIT 1
// reads and locks nothing; COMMIT 1 decides what it lets through (docs/decisions/0054-rate-limits.md).
import type { CallerIds } from "../domain/credential.ts";
import type { RateDefaults } from "../domain/rate-limits.ts";
import { microseconds } from "../limits/gcra.ts";
import { ask, type Query } from "../store/sql.ts";
import { LOAD } from "./columns.ts";
import { blockedBy } from "./decide/rate-blocked.ts";
import { standingsOf } from "./decide/rate.ts";
import type { RateRefusal } from "./ledger.ts";
import { inForce, mendRate, standardOf, subjectOf } from "./rate-in-force.ts";
import type { Limited } from "./rows.ts";

const LIMITS = `SELECT ${LOAD.rateLimit.columns.map(({ column }) => column).join(", ")} FROM rate_limit
  WHERE org_id = ?1 AND key_id IN ('', ?2) AND model = '' ORDER BY key_id`;

/** Tokens depend on the request, which is not known yet. */
const WITHOUT_TOKENS = { tokensPerMinute: null };

/** Returns null if there may be room. A subject without a row has taken nothing. */
export function* findRateRefusal(
  { organizationId, keyId }: CallerIds,
  { defaults, nowMs }: { defaults: RateDefaults; nowMs: number },
): Query<RateRefusal | null> {
  const nowUs = microseconds(nowMs);
  const limited = (yield* ask(LIMITS, [organizationId, keyId])).map((found): Limited => {
    const row = LOAD.rateLimit.named(found);
    mendRate(row, nowUs);
    const subject = subjectOf(row);
    return { subject, row, limits: inForce(row, standardOf(subject, { defaults, ofEach: undefined })) };
  });
  const whatever = limited.map((one) => ({ ...one, limits: { ...one.limits, ...WITHOUT_TOKENS } }));
  const blocked = blockedBy(whatever, { tokens: 0 }, nowUs);
  return blocked === null ? null : { refusal: blocked.refusal, rates: standingsOf(limited, nowMs) };
}
