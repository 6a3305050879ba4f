// The batch on the drawing board: loaded rows, the postings of each organization, and the changes so far. Later
// operations of a batch see what earlier ones decided; nothing here knows a store or a clock (money.md §7).
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

/** What a batch is decided by beside its rows: the same for every operation in it. Retention in milliseconds and bytes. */
export interface BatchContext {
  /** The wall clock, read once after the write lock was taken. */
  nowMs: number;
  /** Unique and rising per transaction; entries and requests name it. */
  txn: number;
  /** The number that requests are admitted under; null where this process may own none now. */
  epoch: number | null;
  /** Both counted from the end of the request. */
  retention: { answerMs: number; claimMs: number; answerBytes: number };
  rateDefaults: RateDefaults;
  /** Whether its paid calls are refused, because its books do not add up: a look in memory. */
  isStopped(this: void, organizationId: string): boolean;
}

/** One batch under decision, made anew for each; `close` ends it. */
export class BatchState {
  readonly changes: Changes = noChanges();
  /** What a request of a place counts for when it comes: the same rows for all of its requests in this batch. */
  readonly limitedComing = new ByPlace<readonly Limited[]>();
  /** As it ends: the rows that there are. */
  readonly limitedEnding = new ByPlace<readonly Limited[]>();
  private readonly postings = new Map<string, AccountPostings>();
  /** Neighbours are often of one key: what was found last is compared before an id is made. */
  private lastMonth: KeyMonthRow | null = null;
  private lastUsage: HourUsage | null = null;

  constructor(
    readonly rows: Rows,
    readonly context: BatchContext,
  ) {}

  /** The organization's postings, or null when there is no such organization. */
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

  /** A key's row of the month of `atMs`; a new month begins at zero by having no row. */
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

  /** What this batch adds to an hour's usage. */
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

  /** Closes all postings; the changes are complete. */
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
