// The ledger on PostgreSQL, for any number of gateways: a few writers per process, each organization always on the same one.
// Every decision is made on rows locked in the database; nothing about keys, limits or credits is cached (money.md §2, §7).
import { STORED_ANSWER_BYTES_MAX } from "../answer-vault.ts";
import type { Credential } from "../../domain/credential.ts";
import { overloaded } from "../../domain/overloaded.ts";
import { NO_RATE_DEFAULTS, type RateDefaults } from "../../domain/rate-limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Clock } from "../../lib/clock.ts";
import type { PostgresStore } from "../../store/postgres.ts";
import { DatabaseClock } from "../database-clock.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { DecidedAdmission } from "../decide/admission.ts";
import { decideKey } from "../decide/key.ts";
import type { Owner } from "../decide/resolution.ts";
import type {
  AdmissionDecision,
  AdmissionRequest,
  CheckpointOutcome,
  EndedByHand,
  KeyTerms,
  Ledger,
  ResolveOutcome,
  ReversalOutcome,
  TopUpOutcome,
  Transactions,
} from "../ledger.ts";
import { oneAtATime } from "../verify/one-at-a-time.ts";
import { booksOfPostgres, verifyPostgres } from "../verify/postgres/verify.ts";
import { transactionNumber } from "../transaction-number.ts";
import { change, type ChangePorts } from "./changes.ts";
import type { CommitPorts } from "./commit.ts";
import { previewAdmission } from "./preview.ts";
import { Upkeep } from "./upkeep.ts";
import { WriterPool } from "./writer-pool.ts";
import { Lease } from "./lease.ts";
import { KeyReader } from "./key-reader.ts";
import { PostgresRates } from "./load-rates.ts";
import { Seen } from "./seen.ts";
import { OwnRequests } from "./own-requests.ts";
import { findRateRefusal } from "../rate-now.ts";
import { replayed } from "../replay.ts";
import { findBalance } from "../balance.ts";
import type { UnreadableRecord } from "../unreadable.ts";
import { type Jobs, jobsOnStderr } from "../../lib/jobs.ts";
import { Lines } from "../../lib/lines.ts";
import { PreviousInstances } from "../previous-instances.ts";
import { available } from "./available.ts";
import { BooksWatch } from "../books-watch.ts";
import { Pulse } from "../commit/pulse.ts";
import { runOnPostgres } from "../../store/postgres-sql.ts";
import { neverDispatched, type PrintInterrupted } from "../recovery.ts";
import { Spool } from "../commit/spool.ts";

export interface PostgresLedgerPorts {
  store: PostgresStore;
  /** The clock that rows are stamped with; defaults to the database's own clock, which all gateways agree on. */
  clock?: Clock;
  /** Updated with the database's time by each batch and renewal; defaults to a clock of its own if nobody else uses it. */
  databaseClock?: DatabaseClock;
  idempotency: { bodyRetentionMs: number; tombstoneRetentionMs: number };
  printInterrupted: PrintInterrupted;
  /** The interval between two runs of the sweeper, milliseconds. */
  sweepEveryMs?: number;
  /** The interval between two checks of the books, milliseconds. */
  booksEveryMs?: number;
  writers?: number;
  jobs?: Jobs;
  /** Defaults to no limits. */
  rateDefaults?: RateDefaults;
  /** What is remembered of running requests; defaults to an instance that nobody else reads. */
  own?: OwnRequests;
  /** Called if the database has another data key by now: this process then serves nothing any more. */
  keyChanged?: (error: Error) => void;
}

const WRITERS = 4;

/** Opens the ledger. Before it resolves, what earlier processes spooled is settled, and what they left is resolved. */
export async function openPostgresLedger(ports: PostgresLedgerPorts): Promise<Ledger> {
  const ledger = await PostgresLedger.open(ports);
  return ledger.interface();
}

/** What makes this process one of the gateways. */
interface Instance {
  databaseClock: DatabaseClock;
  lease: Lease;
  previous: PreviousInstances;
  jobs: Jobs;
}

class PostgresLedger {
  private readonly databaseClock: DatabaseClock;
  private readonly lease: Lease;
  private readonly previous: PreviousInstances;
  private readonly writers: WriterPool;
  private readonly keyReader: KeyReader;
  private readonly own: OwnRequests;
  private readonly spool: Spool;
  private readonly pulse = new Pulse();
  private readonly firstEpoch: number;
  private readonly rates: PostgresRates;
  private readonly days = new Seen();
  private transactions = 0;
  private readonly on: Transactions;
  private readonly jobs: Jobs;
  private readonly books: BooksWatch;
  private readonly upkeep: Upkeep;

  private constructor(
    private readonly ports: PostgresLedgerPorts,
    { databaseClock, lease, previous, jobs }: Instance,
  ) {
    this.databaseClock = databaseClock;
    this.lease = lease;
    this.previous = previous;
    const { store, writers = WRITERS } = ports;
    this.own = ports.own ?? new OwnRequests();
    this.rates = new PostgresRates(ports.rateDefaults ?? NO_RATE_DEFAULTS, this.own);
    this.firstEpoch = lease.epoch;
    this.jobs = jobs;
    const changing: ChangePorts = { pool: store.pool, stamps: ports.clock ?? null, lines: new Lines(1) };
    this.on = {
      read: (work) => available(runOnPostgres(store.pool, work(this.nowMs()))),
      change: (of, work) => change(changing, of, work),
    };
    this.books = new BooksWatch({
      on: this.on,
      look: (books, ending) => available(booksOfPostgres({ url: store.url, books }, ending)),
      leads: () => available(this.lease.leads()),
      ready: () => this.ready(),
      pulse: this.pulse,
      jobs,
      everyMs: ports.booksEveryMs,
    });
    this.spool = new Spool(store, {
      epoch: lease.epoch,
      failed: (error) => jobs.failed("ledger_spool", error),
    });
    this.keyReader = new KeyReader(() => store.connect("keys"));
    this.writers = new WriterPool(writers, {
      store,
      commit: this.commitPorts(),
      spool: this.spool,
      pulse: this.pulse,
      takeBack: (operation) => this.takeBack(operation),
      jobs,
    });
    this.upkeep = new Upkeep({
      store,
      on: this.on,
      spool: this.spool,
      lease,
      own: this.own,
      books: this.books,
      pulse: this.pulse,
      jobs,
      printInterrupted: ports.printInterrupted,
      submit: (operation) => this.writers.submit(operation),
      clock: ports.clock ?? databaseClock,
      databaseClock,
      ready: () => this.ready(),
      everyMs: ports.sweepEveryMs ?? 5_000,
    });
  }

  static async open(ports: PostgresLedgerPorts): Promise<PostgresLedger> {
    const clock = ports.databaseClock ?? new DatabaseClock();
    const previous = new PreviousInstances(ports.store.dataDirectory);
    const left = previous.left();
    const { jobs = jobsOnStderr(), keyChanged: lost } = ports;
    const lease = await Lease.take(ports.store, { clock, jobs, begins: (name) => previous.note(name), lost });
    const ledger = new PostgresLedger(ports, { databaseClock: clock, lease, previous, jobs });
    try {
      await Promise.all([ledger.writers.open(), ledger.keyReader.open()]);
      await ledger.upkeep.begin(left);
      return ledger;
    } catch (error) {
      await ledger.close();
      throw error;
    }
  }

  interface(): Ledger {
    const { store } = this.ports;
    return {
      admit: (admission) => this.admit({ kind: "admit", admission }),
      settle: (settlement) =>
        this.resolved(settlement, { kind: "settle", settlement, owner: this.ownerOf(settlement) }),
      void: (voiding) => this.resolved(voiding, { kind: "void", voiding, owner: this.ownerOf(voiding) }),
      checkpoint: (checkpoint) =>
        this.decided<CheckpointOutcome>({ kind: "checkpoint", checkpoint, owner: this.ownerOf(checkpoint) }),
      topUp: (topUp, actor) => this.decided<TopUpOutcome>({ kind: "top_up", topUp, actor }),
      reverse: (reversal, actor) => this.decided<ReversalOutcome>({ kind: "reverse", reversal, actor }),
      checkKey: (credential) => this.checkKey(credential),
      rateRefusal: (caller) =>
        this.on.read((nowMs) => findRateRefusal(caller, { defaults: this.rates.defaults, nowMs })),
      preview: (admission) => available(this.preview(admission)),
      balance: (organizationId) => this.on.read(() => findBalance(organizationId)),
      ...this.on,
      endByHand: (ending, actor) => this.decided<EndedByHand>({ kind: "by_hand", ending, actor }),
      verify: oneAtATime(() =>
        available(verifyPostgres({ url: store.url, dataKey: store.dataKey, nowMs: this.nowMs() })),
      ),
      ...this.books.asked(),
      ready: () => this.ready() && this.keyReader.trouble === null,
      trouble: () =>
        this.writers.trouble ??
        this.keyReader.trouble ??
        (this.lease.valid ? "a statement got no answer" : "no lease"),
      leads: () => available(this.lease.leads()),
      pulse: () => this.pulse.read(this.writers.waiting),
      close: () => this.close(),
    };
  }

  private nowMs(): number {
    return (this.ports.clock ?? this.databaseClock).nowMs();
  }

  private ready(): boolean {
    return this.writers.ready && this.lease.valid;
  }

  private commitPorts(): CommitPorts {
    const { store, clock, idempotency } = this.ports;
    return {
      databaseClock: this.databaseClock,
      stamps: clock ?? null,
      dataKey: store.dataKey,
      own: this.own,
      epoch: () => this.lease.epoch,
      rates: this.rates,
      isStopped: this.books.isStopped,
      days: this.days,
      retention: {
        answerMs: idempotency.bodyRetentionMs,
        claimMs: idempotency.bodyRetentionMs + idempotency.tombstoneRetentionMs,
        answerBytes: STORED_ANSWER_BYTES_MAX,
      },
      nextTransaction: () => {
        this.transactions += 1;
        return transactionNumber(this.firstEpoch, this.transactions);
      },
    };
  }

  /** The epoch that the request was admitted under, which need not be the current one. */
  private ownerOf({ requestId }: { requestId: string }): Owner {
    return { epoch: this.own.epochOf(requestId) ?? this.lease.epoch };
  }

  private async decided<T>(operation: MoneyOperation): Promise<T> {
    return (await this.writers.submit(operation)) as T;
  }

  private async resolved(
    { requestId }: { requestId: string },
    operation: Extract<MoneyOperation, { kind: "settle" | "void" }>,
  ): Promise<ResolveOutcome> {
    const outcome = await this.decided<ResolveOutcome>(operation);
    this.own.ended(requestId);
    return outcome;
  }

  private async checkKey(credential: Credential): Promise<Refusal | KeyTerms> {
    // The same check as in COMMIT 1, before the request is read.
    const { organizationId, keyId } = credential;
    if (!this.lease.valid || !this.writers.triesFor(organizationId)) throw overloaded();
    const row = await this.keyReader.read(organizationId, keyId);
    const known = decideKey(row, credential, this.nowMs());
    return known.kind === "refused" ? known.refusal : known.key;
  }

  /** COMMIT 1: a request that this resolves as admitted may be sent. */
  private async admit(operation: Extract<MoneyOperation, { kind: "admit" }>): Promise<AdmissionDecision> {
    if (!this.lease.valid) throw overloaded();
    const decision = await this.decided<DecidedAdmission>(operation);
    if (decision.kind !== "admitted") return this.answered(decision);
    // This process was suspended during its commit, or the commit was in doubt for long: others may have ended the request.
    const { epoch } = this.ownerOf(operation.admission);
    if (this.lease.valid && epoch === this.lease.epoch) return decision;
    this.takeBack(operation);
    throw overloaded();
  }

  /** Undoes an admission whose caller was refused: nothing was sent, the hold is returned and the key is free. */
  private takeBack(operation: MoneyOperation): void {
    if (operation.kind !== "admit") return;
    const { requestId, credential } = operation.admission;
    const { organizationId } = credential;
    const voiding = neverDispatched({ organizationId, requestId }, { status: 503, totalMs: 0 });
    // Lost only if the process ends before the database is back: then the sweeper does it.
    this.resolved(voiding, { kind: "void", voiding, owner: this.ownerOf({ requestId }) }).catch(() => {});
  }

  private async preview(admission: AdmissionRequest): Promise<AdmissionDecision> {
    const { pool } = this.ports.store;
    return this.answered(await previewAdmission({ kind: "admit", admission }, pool, this.commitPorts()));
  }

  private async answered(decision: DecidedAdmission): Promise<AdmissionDecision> {
    if (decision.kind !== "replay") return decision;
    const failed = (error: UnreadableRecord): void => this.jobs.failed("replay", error);
    const { dataKey } = this.ports.store;
    return this.on.read(() => replayed(decision, { dataKey, failed }));
  }

  private async close(): Promise<void> {
    // Concurrently: a sweep may be waiting for a database that is away, which the writers give up on.
    await Promise.all([this.upkeep.stop(), this.books.stop(), this.writers.close(), this.keyReader.close()]);
    await this.lease.release().catch(() => {}); // it runs out by itself
    this.previous.end();
  }
}
