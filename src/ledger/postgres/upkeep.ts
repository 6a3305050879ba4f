// What earlier processes left, and the upkeep this store needs from each of its gateways: done before
// the first request, then repeatedly (money.md §2, §9).
import { HOUR_MS, MINUTE_MS } from "../../domain/durations.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Repeating } from "../../lib/every.ts";
import type { Jobs } from "../../lib/jobs.ts";
import type { PostgresStore } from "../../store/postgres.ts";
import { runOnPostgres } from "../../store/postgres-sql.ts";
import type { BooksWatch } from "../books-watch.ts";
import type { Pulse } from "../commit/pulse.ts";
import type { Spool } from "../commit/spool.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Transactions } from "../ledger.ts";
import { resolveOrphans } from "../orphans.ts";
import type { PreviousInstances } from "../previous-instances.ts";
import { countQuarantined, putInQuarantine } from "../quarantine.ts";
import { mendRunning } from "../rate-running.ts";
import { SteadyClock } from "../steady-clock.ts";
import { readOrphan } from "../read-orphan.ts";
import type { PrintInterrupted } from "../recovery.ts";
import {
  evictGone,
  evictInstances,
  type Lease,
  type Overdue,
  owningEpochs,
  RENEWED_AFTER_STEP_MS,
} from "./lease.ts";
import { makeMonths } from "./months.ts";
import { findUnowned } from "./orphans.ts";
import type { OwnRequests } from "./own-requests.ts";
import { settleSpooled } from "./settle-spooled.ts";
import { keepSweeping, refusedByStore } from "./sweep.ts";

interface UpkeepPorts {
  store: Pick<PostgresStore, "pool" | "dataKey">;
  on: Transactions;
  spool: Spool;
  lease: Lease;
  /** What this process remembers of its own requests. */
  own: OwnRequests;
  /** Knows whose paid calls are refused. */
  books: BooksWatch;
  pulse: Pulse;
  jobs: Jobs;
  printInterrupted: PrintInterrupted;
  submit(operation: MoneyOperation): Promise<unknown>;
  clock: Clock;
  /** The database's clock, whatever rows are stamped with. */
  databaseClock: Clock;
  ready(): boolean;
  /** The interval between two runs, milliseconds. */
  everyMs: number;
}

/** Longer than any request runs (`limits.request_timeout_ms`). */
const DEADLINES_WITHIN_MS = HOUR_MS + MINUTE_MS;

export class Upkeep {
  private readonly firstEpoch: number;
  private sweeping: Repeating | null = null;
  private readonly deadlines: SteadyClock;
  private readonly leases: SteadyClock;

  constructor(private readonly ports: UpkeepPorts) {
    this.firstEpoch = ports.lease.epoch;
    this.deadlines = new SteadyClock(ports.clock, DEADLINES_WITHIN_MS);
    this.leases = new SteadyClock(ports.databaseClock, RENEWED_AFTER_STEP_MS);
  }

  /** Ends what earlier processes left, then keeps doing so. */
  async begin(left: ReturnType<PreviousInstances["left"]>): Promise<void> {
    const { store, on, jobs, pulse, books } = this.ports;
    const { pool } = store;
    await books.refresh();
    await makeMonths(pool, this.ports.clock.nowMs());
    await this.unlessBroken("ledger_spool", () => this.settleSpooled());
    await evictInstances(pool, "returned");
    await evictGone(pool, left.names);
    left.forget();
    await this.unlessBroken("ledger_recovery", () => this.resolveOrphans());
    books.begin();
    this.sweeping = keepSweeping({
      jobs,
      on: pool,
      nowMs: () => this.ports.clock.nowMs(),
      ready: () => this.ports.ready(),
      swept: (nowMs) => pulse.swept(nowMs),
      everyMs: this.ports.everyMs,
      settleSpooled: () => this.settleSpooled(),
      mendLimits: () => mendRunning(on),
      readStops: () => books.refresh(),
      resolveOrphans: async () => {
        await evictInstances(pool, this.overdue());
        await this.resolveOrphans();
      },
    });
  }

  async stop(): Promise<void> {
    await this.sweeping?.stop();
  }

  /** Runs a step of the start: only a database that is away prevents a gateway from starting. */
  private async unlessBroken(job: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (refusedByStore(error)) throw error;
      this.ports.jobs.failed(job, error);
    }
  }

  private overdue(): Overdue {
    const nowMs = this.leases.nowMs(); // read each time, so that it notices a step
    return this.ports.lease.mayEvict ? { nowMs } : "returned";
  }

  private settleSpooled(): Promise<void> {
    const { store, on, spool, jobs } = this.ports;
    return settleSpooled({
      on,
      spool,
      // Before those are evicted: after that anybody may end their requests.
      owning: () => owningEpochs(store.pool, this.overdue()),
      submit: (operation) => this.ports.submit(operation),
      jobs,
    });
  }

  private async resolveOrphans(): Promise<void> {
    const { store, on, own, lease, jobs, pulse, printInterrupted } = this.ports;
    const { pool, dataKey } = store;
    const numbers = [this.firstEpoch, lease.epoch];
    await resolveOrphans({
      store: {
        find: () => findUnowned(pool, { own: numbers, nowMs: this.deadlines.nowMs() }),
        read: (unowned) => runOnPostgres(pool, readOrphan(unowned, dataKey)),
        submit: (operation) => this.ports.submit(operation),
        quarantine: async (unowned, reason) => {
          await putInQuarantine(on, unowned, reason);
          own.ended(unowned.requestId); // a person ends it, at any gateway
        },
        isStoreFailure: refusedByStore,
      },
      nowMs: () => this.ports.clock.nowMs(),
      printInterrupted,
      alarm: (error) => jobs.failed("ledger_recovery", error),
    });
    pulse.foundQuarantined(await countQuarantined(on));
  }
}
