// The state of a batch while it is decided: loaded rows, the postings of each organization, and the changes so far.
// Later operations of a batch see what earlier ones decided. Nothing here knows a store or a clock (money.md §7).
import type { RateDefaults, RatePlace } from "../../domain/rate-limits.ts";
import { utcMonth } from "../../lib/clock.ts";
import { ZERO_USD } from "../../domain/money.ts";
import { ByPlace } from "../by-place.ts";
import { AccountPostings } from "./account-postings.ts";
import {
  type Changes,
  type KeyMonthRow,
  type Limited,
  type Rows,
  type HourUsage,
  noChanges,
  rowId,
} from "../rows.ts";
import { stampOf } from "../stamp.ts";

/** What decides a batch besides its rows; the same for every operation in it. Retention is in milliseconds and bytes. */
export interface BatchContext {
  /** The wall clock, read once after the write lock was taken. */
  nowMs: number;
  /** Unique and increasing per transaction; entries and requests refer to it. */
  txn: number;
  /** The epoch that requests are admitted under; null if this process may not own any now. */
  epoch: number | null;
  /** Both times count from the end of the request. */
  retention: { answerMs: number; claimMs: number; answerBytes: number };
  rateDefaults: RateDefaults;
  /** True if the organization's paid calls are refused because its books do not add up: a lookup in memory. */
  isStopped(this: void, organizationId: string): boolean;
}

/** One batch being decided. Each batch gets a new one; `close` ends it. */
export class BatchState {
  readonly changes: Changes = noChanges();
  /** The limits that a new request of a place counts towards: the same rows for all of its requests in this batch. */
  readonly limitedComing = new ByPlace<readonly Limited[]>();
  /** The limits that an ending request of a place counts towards: only rows that exist. */
  readonly limitedEnding = new ByPlace<readonly Limited[]>();
  private readonly postings = new Map<string, AccountPostings>();
  /** Consecutive operations are often of one key, so the last row found is compared before an id is built. */
  private lastMonth: KeyMonthRow | null = null;
  private lastUsage: HourUsage | null = null;

  constructor(
    readonly rows: Rows,
    readonly context: BatchContext,
  ) {}

  /** Returns the organization's postings, or null if there is no such organization. */
  postingsOf(organizationId: string): AccountPostings | null {
    const open = this.postings.get(organizationId);
    if (open !== undefined) return open;
    const balance = this.rows.balances.get(organizationId);
    if (balance === undefined) return null;
    const atMs = stampOf(this.context.nowMs, balance.stampedAtMs);
    const postings = new AccountPostings(balance, this.context.txn, atMs);
    this.postings.set(organizationId, postings);
    return postings;
  }

  /** Returns a key's row for the month of `atMs`. A month without a row starts at zero. */
  keyMonth(organizationId: string, keyId: string, atMs: number): KeyMonthRow {
    return this.keyMonthNamed(organizationId, keyId, utcMonth(atMs));
  }

  keyMonthNamed(organizationId: string, keyId: string, month: string): KeyMonthRow {
    const last = this.lastMonth;
    if (last?.organizationId === organizationId && last.keyId === keyId && last.month === month) return last;
    const id = rowId(organizationId, keyId, month);
    let row = this.rows.keyMonths.get(id);
    if (row === undefined) {
      row = { organizationId, keyId, month, held: ZERO_USD, spent: ZERO_USD, lastAdmittedAtMs: 0 };
      this.rows.keyMonths.set(id, row);
    }
    this.lastMonth = row;
    return row;
  }

  /** Returns what this batch adds to an hour's usage. */
  usageOf({ organizationId, keyId, model }: RatePlace, hour: number): HourUsage {
    const last = this.lastUsage;
    if (
      last?.organizationId === organizationId &&
      last.keyId === keyId &&
      last.model === model &&
      last.hour === hour
    )
      return last;
    const id = rowId(organizationId, keyId, model, hour);
    let row = this.changes.usageHours.get(id);
    if (row === undefined) {
      const none = { requests: 0, inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
      row = { organizationId, keyId, model, hour, ...none, charge: ZERO_USD };
      this.changes.usageHours.set(id, row);
    }
    this.lastUsage = row;
    return row;
  }

  /** Closes all postings, which completes the changes. */
  close(): Changes {
    for (const postings of this.postings.values()) {
      if (!postings.touched) continue;
      const versionRead = postings.balance.version;
      this.changes.entries.push(...postings.close());
      this.changes.balances.push({ ...postings.balance, versionRead });
    }
    return this.changes;
  }
}
