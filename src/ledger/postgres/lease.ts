// A gateway's right to own requests: a row with a lease, renewed every two seconds, valid for ten by the database's
// clock. A gateway that cannot renew it stops admitting by itself. One that stays away is evicted by another for
// good: from then on the others resolve what it left, and if it comes back, it gets a new epoch (money.md §2, §9).
import { hostname } from "node:os";
import { randomBase62 } from "../../lib/id.ts";
import type { Jobs } from "../../lib/jobs.ts";
import { errorKind } from "../../store/postgres-error.ts";
import { dataKeyCheck } from "../../store/data-key.ts";
import { foreignDataKey, type PostgresStore } from "../../store/postgres.ts";
import { StoreFailure } from "../../store/store-failure.ts";
import type { DatabaseClock } from "../database-clock.ts";
import { int } from "../cell.ts";
import { type Asking, askOnce } from "./query.ts";

const LEASE_MS = 10_000;
const RENEW_EVERY_MS = 2_000;
/** A database that came back is asked at once: a lease that runs out meanwhile refuses every request. */
const TRY_AGAIN_MS = 250;
/** As long as a batch may take, so that a slow database loses no lease; after a timeout there is time for one more try. */
const RENEWED_WITHIN_MS = 4_000;
/** After the database was away for everybody: time for all to renew before anyone is evicted. */
const GRACE_MS = 5_000;
/** If the database's clock was put forward and made leases overdue, every live instance has renewed by then. */
export const RENEWED_AFTER_STEP_MS = LEASE_MS + GRACE_MS;

export const DATABASE_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const RENEW = `UPDATE instance SET lease_until = ${DATABASE_NOW} + ${LEASE_MS}
   WHERE epoch = $1 AND NOT condemned RETURNING ${DATABASE_NOW}`;

/** SQL that is true if the instance with this epoch may own requests now: its lease has not run out. */
export const owns = (epoch: string): string =>
  `EXISTS (SELECT 1 FROM instance i WHERE i.epoch = ${epoch} AND NOT i.condemned AND i.lease_until > ${DATABASE_NOW})`;

export interface LeasePorts {
  clock: DatabaseClock;
  jobs: Jobs;
  /** Called with each instance's name before it owns anything. */
  begins(name: string): void;
  /** Called if the store has another data key by now: this process never gets a lease again. */
  lost: ((error: StoreFailure) => void) | undefined;
}

/**
 * Taken once per process. `epoch` changes when a lost lease is taken again; others then end the
 * requests of the previous epoch.
 */
export class Lease {
  /** The epoch that this process admits under now. */
  epoch = 0;
  private validUntilMs = 0;
  /** Since when it has been valid without interruption. */
  private heldSinceMs = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private released = false;
  private renewing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly store: PostgresStore,
    private readonly ports: LeasePorts,
  ) {}

  static async take(store: PostgresStore, ports: LeasePorts): Promise<Lease> {
    const lease = new Lease(store, ports);
    await lease.begin();
    lease.later();
    return lease;
  }

  /** False once it may have run out: counted from before the renewal was sent. */
  get valid(): boolean {
    return !this.released && performance.now() < this.validUntilMs;
  }

  /** True if it has been valid long enough for others to have had their chance to renew. */
  get mayEvict(): boolean {
    return this.valid && performance.now() - this.heldSinceMs > GRACE_MS;
  }

  /** True if no other live instance has been running longer. */
  async leads(): Promise<boolean> {
    if (!this.valid) return false;
    const [row] = await askOnce(
      this.store.pool,
      `SELECT min(epoch) FROM instance WHERE NOT condemned AND lease_until > ${DATABASE_NOW}`,
    );
    return row?.[0] !== null && int(row?.[0]) === this.epoch;
  }

  /** Gives the lease back, so that others need not wait until it runs out. */
  async release(): Promise<void> {
    this.released = true;
    clearTimeout(this.timer);
    await this.renewing; // or it would take the lease again
    await askOnce(this.store.pool, "UPDATE instance SET lease_until = 0 WHERE epoch = $1", [this.epoch]);
  }

  private async begin(): Promise<void> {
    const epoch = await this.store.nextEpoch();
    const name = `${hostname()} ${process.pid} ${randomBase62(8)}`;
    try {
      this.ports.begins(name);
    } catch (error) {
      this.ports.jobs.failed("ledger_lease", error); // what it leaves is then ended once its lease has run out
    }
    const askedAtMs = performance.now();
    const [row] = await askOnce(
      this.store.pool,
      // The row stays as it is until this commits: a change of the data key waits for it, or is seen here.
      `INSERT INTO instance (epoch, name, started_at, lease_until)
       SELECT $1::bigint, $2::text, ${DATABASE_NOW}, ${DATABASE_NOW} + ${LEASE_MS}
       FROM (SELECT 1 FROM store_state WHERE data_key_check = $3 FOR SHARE) AS ours RETURNING started_at`,
      [epoch, name, Buffer.from(dataKeyCheck(this.store.dataKey))],
    );
    if (row === undefined) throw foreignDataKey(this.store.dataDirectory);
    this.ports.clock.read(int(row[0]));
    this.epoch = epoch;
    this.extend(askedAtMs);
  }

  private giveUp(error: StoreFailure): void {
    this.released = true;
    if (this.ports.lost === undefined) this.ports.jobs.failed("ledger_lease", error);
    else this.ports.lost(error);
  }

  private extend(askedAtMs: number): void {
    if (!this.valid) this.heldSinceMs = performance.now();
    this.validUntilMs = askedAtMs + LEASE_MS;
  }

  private async renew(): Promise<void> {
    const askedAtMs = performance.now();
    const [row] = await askOnce(this.store.pool, RENEW, [this.epoch], { query_timeout: RENEWED_WITHIN_MS });
    // Evicted: the others resolve what it owned. A new epoch owns none of that.
    if (row === undefined) return await this.begin();
    this.ports.clock.read(int(row[0]));
    this.extend(askedAtMs);
  }

  private later(ms = RENEW_EVERY_MS): void {
    this.timer = setTimeout(() => {
      this.renewing = this.renew()
        .then(
          () => RENEW_EVERY_MS,
          (error: unknown) => {
            if (error instanceof StoreFailure) this.giveUp(error);
            // If this continues, the lease runs out by itself.
            else if (errorKind(error) === "operation") this.ports.jobs.failed("ledger_lease", error);
            return TRY_AGAIN_MS;
          },
        )
        .then((nextMs) => {
          if (!this.released) this.later(nextMs);
        });
    }, ms);
    this.timer.unref();
  }
}

/** Leases that were given back; or also those that were not renewed by a time, as `SteadyClock` returns it. */
export type Overdue = "returned" | { nowMs: number };

/** The database's own time, unless it was put forward a moment ago. */
const sinceOf = (which: Overdue): string =>
  which === "returned" ? "1" : `least(${DATABASE_NOW}, ${Math.floor(which.nowMs)})`;

/** Ends the ownership of instances that gave their lease back and, for a time, of those that did not renew it. */
export async function evictInstances(on: Asking, which: Overdue): Promise<void> {
  const before = which === "returned" ? sinceOf(which) : `${sinceOf(which)} - ${GRACE_MS}`;
  await askOnce(on, `UPDATE instance SET condemned = true WHERE NOT condemned AND lease_until < ${before}`);
}

/** Returns the epochs that still own their requests; for a time, without those whose lease has run out by it. */
export async function owningEpochs(on: Asking, which: Overdue): Promise<ReadonlySet<number>> {
  const rows = await askOnce(
    on,
    `SELECT epoch FROM instance WHERE NOT condemned AND lease_until >= ${sinceOf(which)}`,
  );
  return new Set(rows.map(([epoch]) => int(epoch)));
}

/** Ends the ownership of processes that are known to be gone. */
export async function evictGone(on: Asking, names: readonly string[]): Promise<void> {
  if (names.length > 0)
    await askOnce(on, "UPDATE instance SET condemned = true, lease_until = 0 WHERE name = ANY($1::text[])", [
      names,
    ]);
}

/** Forgets instances that ended long ago and own nothing any more. */
export async function forgetInstances(on: Asking): Promise<void> {
  await askOnce(
    on,
    `DELETE FROM instance i WHERE condemned AND lease_until < ${DATABASE_NOW} - 86400000
       AND NOT EXISTS (SELECT 1 FROM request r WHERE r.epoch = i.epoch AND r.closed_txn IS NULL)`,
  );
}
