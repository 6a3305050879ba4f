// The ledger on PostgreSQL, for any number of gateways: a few lanes of batches per process, each organization always in
// the same lane, every decision taken on rows locked in the database, nothing about keys, limits or credits cached
// (money.md §2, §7). An admission is durable twice before anything is sent: the hold, then the fence.
import { overloaded } from "../contract/overloaded.ts";
import type { Clock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { PostgresStore } from "../store/postgres.ts";
import { DatabaseClock } from "./database-clock.ts";
import { decide, type MoneyOperation } from "./decide.ts";
import type { AdmitDecision } from "./decide-admission.ts";
import { decideKey } from "./decide-key.ts";
import type {
  AdmitOutcome,
  CheckpointOutcome,
  Ledger,
  ResolveOutcome,
  ReversalOutcome,
  TopUpOutcome,
} from "./ledger.ts";
import { auditPostgres } from "./postgres-audit.ts";
import { PostgresChanges } from "./postgres-changes.ts";
import { type CommitPorts } from "./postgres-commit.ts";
import { Lanes } from "./postgres-lanes.ts";
import { condemnGone, condemnInstances, Lease } from "./postgres-lease.ts";
import { loadKey, loadRows } from "./postgres-load.ts";
import { makeMonths } from "./postgres-months.ts";
import { findOrphans } from "./postgres-orphans.ts";
import { type LaneOperation } from "./postgres-operations.ts";
import { Predecessors } from "./predecessors.ts";
import { available, records } from "./postgres-records.ts";
import { Pulse } from "./pulse.ts";
import { readAnswer } from "./postgres-requests.ts";
import { keepSweeping } from "./postgres-sweep.ts";
import { NEVER_DISPATCHED, type PrintCut, resolveOrphan, takeBack } from "./recovery.ts";
import { Spool } from "./spool.ts";

export interface PostgresLedgerPorts {
  store: PostgresStore;
  /** What rows are stamped with; left out, the database's own clock, which all gateways agree on. */
  clock?: Clock;
  idempotency: { bodyRetentionMs: number; tombstoneRetentionMs: number };
  printCut: PrintCut;
  /** Between two runs of the sweeper, milliseconds. */
  sweepEveryMs?: number;
  lanes?: number;
}

const LANES = 4;
/** One stored result holds at most this much (money.md §8.10). */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Transactions of one number that stay apart from those of every other. */
const TRANSACTIONS_PER_EPOCH = 1_000_000_000;

/** Opens the ledger; what earlier processes spooled is settled, and what they left is resolved, before it resolves. */
export async function openPostgresLedger(ports: PostgresLedgerPorts): Promise<Ledger> {
  const ledger = await PostgresLedger.open(ports);
  return ledger.interface();
}

/** What makes this process one of the gateways. */
interface Instance {
  databaseClock: DatabaseClock;
  lease: Lease;
  predecessors: Predecessors;
}

class PostgresLedger {
  private readonly databaseClock: DatabaseClock;
  private readonly lease: Lease;
  private readonly predecessors: Predecessors;
  private readonly lanes: Lanes;
  /** Which number each running request of this process was admitted under. */
  private readonly owners = new Map<string, number>();
  private readonly spool: Spool;
  private readonly pulse = new Pulse();
  private readonly firstEpoch: number;
  private transactions = 0;
  private stopSweeping = async (): Promise<void> => {};

  private constructor(
    private readonly ports: PostgresLedgerPorts,
    { databaseClock, lease, predecessors }: Instance,
  ) {
    this.databaseClock = databaseClock;
    this.lease = lease;
    this.predecessors = predecessors;
    const { store, lanes = LANES } = ports;
    this.firstEpoch = lease.epoch;
    this.spool = new Spool(store.dataDirectory, store.dataKey, lease.epoch);
    this.lanes = new Lanes(lanes, {
      store,
      commit: this.commitPorts(),
      spool: this.spool,
      pulse: this.pulse,
      takeBack: (operation) => this.takeBack(operation),
    });
  }

  static async open(ports: PostgresLedgerPorts): Promise<PostgresLedger> {
    const clock = new DatabaseClock();
    const predecessors = new Predecessors(ports.store.dataDirectory);
    const left = predecessors.left();
    const lease = await Lease.take(ports.store, { clock, begins: (name) => predecessors.note(name) });
    const ledger = new PostgresLedger(ports, { databaseClock: clock, lease, predecessors });
    try {
      await ledger.begin(left);
      return ledger;
    } catch (error) {
      await ledger.close();
      throw error;
    }
  }

  /** Ends what earlier processes left, then keeps doing so. */
  private async begin(left: ReturnType<Predecessors["left"]>): Promise<void> {
    const { pool } = this.ports.store;
    await this.lanes.open();
    await makeMonths(pool, this.nowMs());
    await this.settleSpooled();
    await condemnInstances(pool, "returned");
    await condemnGone(pool, left.names);
    left.forget();
    await this.resolveOrphans();
    this.stopSweeping = keepSweeping({
      on: pool,
      nowMs: () => this.nowMs(),
      ready: () => this.ready(),
      swept: (nowMs) => this.pulse.swept(nowMs),
      everyMs: this.ports.sweepEveryMs ?? 5_000,
      resolveOrphans: async () => {
        await this.settleSpooled();
        await condemnInstances(pool, this.lease.mayCondemn ? "overdue" : "returned");
        await this.resolveOrphans();
      },
    });
  }

  interface(): Ledger {
    const { store } = this.ports;
    const changes = new PostgresChanges(store.pool, this.ports.clock ?? null);
    const reading = { on: store.pool, nowMs: (): number => this.nowMs() };
    return {
      admit: (admission) => this.admit({ kind: "admit", admission }),
      settle: (settlement) =>
        this.resolved(settlement, { kind: "settle", settlement, owner: this.ownerOf(settlement) }),
      void: (voiding) => this.resolved(voiding, { kind: "void", voiding, owner: this.ownerOf(voiding) }),
      checkpoint: (checkpoint) =>
        this.decided<CheckpointOutcome>({ kind: "checkpoint", checkpoint, owner: this.ownerOf(checkpoint) }),
      topUp: (topUp, actor) => this.decided<TopUpOutcome>({ kind: "top_up", topUp, actor }),
      reverse: (reversal, actor) => this.decided<ReversalOutcome>({ kind: "reverse", reversal, actor }),
      preview: (admission) => available(this.preview({ kind: "admit", admission })),
      authenticate: (credential) =>
        available(
          (async () => {
            const row = await loadKey(store.pool, credential.organizationId, credential.keyId);
            const known = decideKey(row, credential);
            if (known.kind === "refused") return { kind: "refused", refusal: known.refusal };
            const key = await records(reading).key(credential.keyId);
            if (key === null) throw new Error(`key ${credential.keyId} has a row but no record`);
            return { kind: "key", key };
          })(),
        ),
      ...records(reading),
      ...changes.interface(),
      audit: () => available(auditPostgres({ url: store.url, dataKey: store.dataKey, nowMs: this.nowMs() })),
      ready: () => this.ready(),
      trouble: () => this.lanes.trouble ?? (this.lease.valid ? "a statement got no answer" : "no lease"),
      pulse: () => this.pulse.read(this.lanes.waiting),
      close: () => this.close(),
    };
  }

  private nowMs(): number {
    return (this.ports.clock ?? this.databaseClock).nowMs();
  }

  private ready(): boolean {
    return this.lanes.ready && this.lease.valid;
  }

  private commitPorts(): CommitPorts {
    const { store, clock, idempotency } = this.ports;
    return {
      databaseClock: this.databaseClock,
      stamps: clock ?? null,
      dataKey: store.dataKey,
      owners: this.owners,
      epoch: () => this.lease.epoch,
      retention: {
        answerMs: idempotency.bodyRetentionMs,
        claimMs: idempotency.bodyRetentionMs + idempotency.tombstoneRetentionMs,
        answerBytes: ANSWER_BYTES_MAX,
      },
      nextTransaction: () => {
        this.transactions += 1;
        if (this.transactions >= TRANSACTIONS_PER_EPOCH)
          throw new Error("a process ran out of transaction numbers: restart");
        return this.firstEpoch * TRANSACTIONS_PER_EPOCH + this.transactions;
      },
    };
  }

  /** The number the request was admitted under, which need not be the one of now. */
  private ownerOf({ requestId }: { requestId: string }): { epoch: number; tried: number[] } {
    return { epoch: this.owners.get(requestId) ?? this.lease.epoch, tried: [] };
  }

  private async decided<T>(operation: MoneyOperation): Promise<T> {
    return (await this.lanes.submit(operation)) as T;
  }

  private async resolved(
    { requestId }: { requestId: string },
    operation: Extract<MoneyOperation, { kind: "settle" | "void" }>,
  ): Promise<ResolveOutcome> {
    const outcome = await this.decided<ResolveOutcome>(operation);
    this.owners.delete(requestId);
    return outcome;
  }

  /** COMMIT 1, then the fence: what this resolves as admitted may be sent. */
  private async admit(operation: Extract<MoneyOperation, { kind: "admit" }>): Promise<AdmitOutcome> {
    if (!this.lease.valid) throw overloaded();
    const decision = await this.decided<AdmitDecision>(operation);
    if (decision.kind !== "admitted") return this.answered(decision);
    const { requestId, credential } = operation.admission;
    const { organizationId } = credential;
    try {
      const { kind } = await this.lanes.submit({ kind: "fence", organizationId, requestId });
      crashPoint("after_fence");
      if (kind === "fenced") return decision;
    } catch (error) {
      this.takeBack(operation);
      throw error;
    }
    this.takeBack(operation);
    throw overloaded();
  }

  /** An admission whose caller was refused: nothing was sent, the hold goes back and the key is free. */
  private takeBack(operation: LaneOperation): void {
    if (operation.kind !== "admit") return;
    const { requestId, credential } = operation.admission;
    const { organizationId } = credential;
    const voiding = {
      organizationId,
      requestId,
      status: 503,
      errorCode: NEVER_DISPATCHED,
      attempts: [],
      totalMs: 0,
      freeClaim: true,
      answer: null,
    };
    // Lost only when the process ends before the database is back: then the sweeper does it.
    this.resolved(voiding, { kind: "void", voiding, owner: this.ownerOf({ requestId }) }).catch(() => {});
  }

  private async preview(operation: Extract<MoneyOperation, { kind: "admit" }>): Promise<AdmitOutcome> {
    const { clock, store } = this.ports;
    const aboutMs = this.nowMs();
    const { rows, databaseNowMs } = await loadRows(store.pool, [operation], { lock: false, aboutMs });
    const context = { nowMs: clock?.nowMs() ?? databaseNowMs ?? aboutMs, txn: 0, epoch: this.lease.epoch };
    const [first] = decide(rows, [operation], {
      ...context,
      retention: this.commitPorts().retention,
    }).decided;
    if (first?.kind !== "outcome") throw first?.error ?? new Error("a preview was not decided");
    return this.answered(first.outcome as AdmitDecision);
  }

  /** A replay with its bytes. */
  private async answered(decision: AdmitDecision): Promise<AdmitOutcome> {
    if (decision.kind !== "replay") return decision;
    const { store } = this.ports;
    const answer = await available(readAnswer(store.pool, decision, store.dataKey));
    if (answer === null) throw new Error(`the answer of ${decision.requestId} is kept but not there`);
    return { kind: "replay", answer };
  }

  /** What processes of this directory could not settle before they ended. */
  private async settleSpooled(): Promise<void> {
    for (const left of this.spool.leftovers()) {
      await Promise.all(left.operations.map((operation) => this.lanes.submit(operation)));
      left.forget();
    }
  }

  private async resolveOrphans(): Promise<void> {
    const { store, printCut } = this.ports;
    const { dataKey } = store;
    const own = [this.firstEpoch, this.lease.epoch];
    for (;;) {
      const found = await findOrphans(store.pool, { dataKey, own, nowMs: this.nowMs() });
      if (found.length === 0) return;
      const ended = found.map((orphan) =>
        orphan.dispatched ? resolveOrphan(orphan, this.nowMs(), printCut) : takeBack(orphan, this.nowMs()),
      );
      await Promise.all(ended.map((operation) => this.lanes.submit(operation)));
    }
  }

  private async close(): Promise<void> {
    // Together: a sweep may be waiting for a database that is away, which the lanes give up on.
    await Promise.all([this.stopSweeping(), this.lanes.close()]);
    await this.lease.release().catch(() => {}); // it runs out by itself
    this.predecessors.end();
  }
}
