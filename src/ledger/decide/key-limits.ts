// Step 10 of money.md §7: the limits of a key for the month, the day and the week, including changes
// by earlier operations of the batch.
import { HOUR_MS } from "../../domain/durations.ts";
import { addUsd, subUsd, type NanoUsd } from "../../domain/money.ts";
import { utcDay } from "../../lib/clock.ts";
import type { BatchState } from "../commit/batch-state.ts";
import { countsDays, isLimited, type KeySpend, reachedOf, type LimitedSpan, spansOf } from "../key-spans.ts";
import type { AdmissionDecision } from "../ledger.ts";
import { type KeyMonthRow, type KeyRow, rowId } from "../rows.ts";
import { keyLimitReached } from "./policy-refusals.ts";

type Refused = Extract<AdmissionDecision, { kind: "refused" }>;

/** Returns the spans that the key has a limit for, as they stand before this admission. */
export function spansNow(
  batch: BatchState,
  key: KeyRow,
  month: KeyMonthRow,
  atMs: number,
): readonly LimitedSpan[] {
  if (!isLimited(key)) return UNLIMITED;
  const spend = countsDays(key) ? spendNow(batch, key) : null;
  return spansOf(key, { month: { spent: month.spent, held: month.held }, spend, atMs });
}

const UNLIMITED: readonly LimitedSpan[] = [];

/** Returns null while every limit of the key still has something left. */
export function limitRefusal(spans: readonly LimitedSpan[]): Refused | null {
  const reached = reachedOf(spans);
  if (reached === undefined) return null;
  const missing = subUsd(addUsd(reached.spent, reached.held), reached.limit);
  return {
    kind: "refused",
    refusal: keyLimitReached(reached),
    authenticated: true,
    short: { of: "key_limit", missing },
  };
}

/** Notes the admitted request's hold, so that its amount can be assigned to its day, and forgets the holds that have ended. */
export function noteHold(batch: BatchState, key: KeyRow, requestId: string): void {
  if (!countsDays(key)) return;
  const { organizationId, keyId } = key;
  batch.changes.holdsNoted.push({ organizationId, keyId, requestId });
  for (const ended of batch.rows.keySpends.get(rowId(organizationId, keyId))?.ended ?? [])
    batch.changes.holdsForgotten.push({ organizationId, keyId, requestId: ended });
}

/** Returns the loaded spend plus the ends of this batch. */
function spendNow(batch: BatchState, { organizationId, keyId }: KeyRow): KeySpend {
  const loaded = batch.rows.keySpends.get(rowId(organizationId, keyId));
  if (loaded === undefined) throw new Error(`the days of ${keyId} were not loaded`);
  const spent = new Map<number, NanoUsd>(loaded.spent);
  for (const { hour, charge, ...of } of batch.changes.usageHours.values()) {
    if (of.organizationId !== organizationId || of.keyId !== keyId) continue;
    const day = utcDay(hour * HOUR_MS);
    const before = spent.get(day);
    spent.set(day, before === undefined ? charge : addUsd(before, charge));
  }
  const open = loaded.open.flatMap((noted) => {
    const request = batch.rows.requests.get(rowId(organizationId, noted.requestId));
    if (request === undefined) return [noted];
    return request.state === "dispatched" ? [{ ...noted, hold: request.hold }] : [];
  });
  return { spent, open };
}
