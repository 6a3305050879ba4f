// A key's standing against its limits of the day, the week and the month: admission refuses it once spend and
// running holds reach one of them (money.md §10).
import { addUsd } from "../domain/money.ts";
import type { LimitedSpan } from "../ledger/key-spans.ts";
import type { KeyRecord } from "../registry/api-keys.ts";

const NEAR_PERCENT = 90n;
const STANDINGS = ["open", "near", "held", "reached"] as const;

/**
 * `reached`: by spend alone, until the period ends or the limit is raised. `held`: only because running
 * requests hold the rest, and what they do not use comes back.
 */
type LimitStanding = (typeof STANDINGS)[number];

/**
 * The limit with the worst standing, of equal ones the one that resets last; null if none needs a mention.
 */
export function limitStanding({ state, spans }: Pick<KeyRecord, "state" | "spans">): {
  standing: Exclude<LimitStanding, "open">;
  span: LimitedSpan;
} | null {
  const [worst] = spans
    .map((span) => ({ standing: standingOf(span), span }))
    .toSorted(
      (a, b) =>
        STANDINGS.indexOf(b.standing) - STANDINGS.indexOf(a.standing) ||
        b.span.resetsAtMs - a.span.resetsAtMs,
    );
  if (state !== "active" || worst === undefined || worst.standing === "open") return null;
  return { standing: worst.standing, span: worst.span };
}

function standingOf({ limit, spent, held }: LimitedSpan): LimitStanding {
  if (spent >= limit) return "reached";
  const taken = addUsd(spent, held);
  if (taken >= limit) return "held";
  return taken * 100n >= limit * NEAR_PERCENT ? "near" : "open";
}
