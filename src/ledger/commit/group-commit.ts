// Group commit on one connection to a store. What waits when a transaction ends forms the next one; a lone operation
// waits for no timer. Conflicts are retried, an operation that the store refuses fails alone, settlements survive a store
// that is away or full, everything else is refused at once. A commit with an unknown outcome is looked up (money.md §7).
import { overloaded } from "../../domain/overloaded.ts";
import type { Jobs } from "../../lib/jobs.ts";
import { messageOf } from "../../domain/error-message.ts";
import { atEndOfTurn, letGoOn } from "../../lib/turn.ts";
import type { Pulse } from "./pulse.ts";
import { RankedQueue } from "./ranked-queue.ts";
import { type Committed, UnknownCommit } from "./unknown-commit.ts";
import type { Writer } from "./writer.ts";

/** What the group commit needs to know about the store and its operations. */
export interface GroupCommitPorts<Operation, Outcome> {
  /** Opens a connection that takes writes; throws if there is none. `lost` is called when the connection ends by itself. */
  open(lost: () => void): Promise<Writer<Operation, Outcome>>;
  /** `conflict`: retry. `operation`: one operation of the batch was refused and the store is fine. `store`: the store is not. */
  errorKind(error: unknown): "conflict" | "operation" | "store";
  /** True if the store itself returned this error and would return it again at once: it is full, or read-only. */
  wasRefused(error: unknown): boolean;
  /** True if the store closed the connection and the batch was not committed: another connection takes it at once. */
  wasCutIdle(error: unknown): boolean;
  /** Rank 0 is decided first; equal ranks keep their order of arrival. */
  rank(operation: Operation): 0 | 1 | 2;
  /** True for operations that must not be lost: they are retried until the store takes them. */
  outlives(operation: Operation): boolean;
  /** A second place for operations that must not be lost, until the store takes them. */
  spool: { keep(operations: readonly Operation[]): void; taken(operation: Operation): void };
  /** Undoes an operation that was committed although its caller was refused. */
  takeBack(operation: Operation): void;
  pulse: Pick<Pulse, "committed">;
  jobs: Jobs;
  /** The number of waiting operations above which new ones are refused. */
  queue: number;
}

interface Waiting<Operation, Outcome> {
  operation: Operation;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
  /** True if its caller was refused while its outcome was unknown. */
  refused: boolean;
  /** True if it was in a batch that was cut; the second time it is refused. */
  cut: boolean;
  /** When it started to wait; monotonic milliseconds. */
  sinceMs: number;
}

/** A transaction with an outcome that is not known yet. */
interface Unknown<Operation, Outcome> {
  batch: Waiting<Operation, Outcome>[];
  about: UnknownCommit<Outcome>;
}

/** The conflicts that a batch has met so far. */
interface Conflicts {
  met: number;
  /** When the batch was first tried. */
  sinceMs: number;
}

const OPERATIONS_PER_BATCH = 256;
const CONFLICTS_AT_MOST = 8;
/** A batch that meets a long-held lock waits for the server's limit on every try, so it soon stops retrying. */
const CONFLICTS_WITHIN_MS = 3_000;
const REOPEN_FIRST_MS = 50;
const REOPEN_AT_MOST_MS = 2_000;
/**
 * A store that refused writes is tried again with real requests; if it refuses none of them for this long, it counts as
 * back.
 */
const TRIAL_MS = 2_000;
/** The longest that a caller waits for the outcome of an unknown commit. */
const UNKNOWN_AT_MOST_MS = 3_000;

/** Commits one batch at a time on one connection and reopens the connection for as long as the store is away. */
export class GroupCommit<Operation, Outcome> {
  private readonly queue: RankedQueue<Waiting<Operation, Outcome>>;
  private writer: Writer<Operation, Outcome> | null = null;
  private running = false;
  /** True while the store takes nothing, or only what must not be lost. */
  private away = false;
  /** True while the store responds but refused the last batch. */
  private refusing = false;
  /** When the store's trial ends, unless it takes a batch before; monotonic milliseconds. */
  private trialUntilMs = Number.NEGATIVE_INFINITY;
  private closed = false;
  private reopenInMs = REOPEN_FIRST_MS;
  private failure: unknown = null;
  private unknown: Unknown<Operation, Outcome> | null = null;
  private readonly atEnd: () => void;

  constructor(private readonly ports: GroupCommitPorts<Operation, Outcome>) {
    this.queue = new RankedQueue(({ operation }) => ports.rank(operation));
    this.atEnd = ports.jobs.guarded("ledger_commit", () => this.run());
  }

  /** False while the store takes no writes from this process, and while it is on trial after refusing some. */
  get ready(): boolean {
    return this.tries && !this.onTrial;
  }

  /** True if operations are tried: the store is available, or refused some a while ago and may take them now. */
  get tries(): boolean {
    return !this.away && !this.closed;
  }

  /** The error with which the store was lost; null once it counts as back. */
  get trouble(): string | null {
    return this.away || this.onTrial ? messageOf(this.failure) : null;
  }

  private get onTrial(): boolean {
    return performance.now() < this.trialUntilMs;
  }

  /** Connects, so that the first request need not and a lost store is noticed before it. */
  async open(): Promise<void> {
    if ((await this.opened()) === null) this.start();
  }

  /** Resolves when the operation is durable. Rejects with `overloaded` if it cannot be taken now. */
  submit(operation: Operation): Promise<Outcome> {
    const lasting = this.ports.outlives(operation);
    if (this.closed || (!lasting && (this.away || this.waiting >= this.ports.queue)))
      return Promise.reject(overloaded());
    if (this.away) this.ports.spool.keep([operation]);
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const sinceMs = performance.now();
    const waiting = { operation, resolve, reject, refused: false, cut: false, sinceMs };
    this.queue.push(waiting);
    this.start();
    return promise;
  }

  /** Commits what waits, unless the store is away, then takes nothing more. Rejects whatever was not committed by then. */
  async close(): Promise<void> {
    while ((this.waiting > 0 || this.running) && !this.away)
      await new Promise((resolve) => setTimeout(resolve, 5));
    this.closed = true;
    this.rejectAll();
    await this.writer?.close();
  }

  /** No caller waits past the end, even for an unknown commit: the next process ends what is open. */
  private rejectAll(): void {
    const unknown = this.unknown?.batch ?? [];
    this.unknown = null;
    for (const waiting of [...unknown, ...this.queue.take(Number.MAX_SAFE_INTEGER)])
      waiting.reject(overloaded());
  }

  /** The number of operations waiting for a batch. */
  get waiting(): number {
    return this.queue.length;
  }

  /** Runs at the end of this turn, so that everything submitted by its requests joins the batch. */
  private start(): void {
    if (this.running) return;
    this.running = true;
    atEndOfTurn(this.atEnd);
  }

  /** Runs one batch, or one attempt to reopen the store. */
  private async run(): Promise<void> {
    try {
      const writer = this.writer ?? (await this.opened());
      if (writer !== null && this.waiting > 0)
        await this.commit(writer, this.queue.take(OPERATIONS_PER_BATCH));
      else if (this.away && !this.closed) await this.tryAgainLater();
    } finally {
      this.running = false; // whatever went wrong, the next operation starts it again
    }
    if (this.closed) this.rejectAll();
    else if (this.waiting > 0 || this.away) this.start();
  }

  private async commit(
    writer: Writer<Operation, Outcome>,
    batch: Waiting<Operation, Outcome>[],
    conflicts: Conflicts = { met: 0, sinceMs: performance.now() },
  ): Promise<void> {
    const beganMs = performance.now();
    try {
      const outcomes = await writer.commit(batch.map(({ operation }) => operation));
      const waitedMs = beganMs - (batch[0]?.sinceMs ?? beganMs);
      this.ports.pulse.committed(batch.length, performance.now() - beganMs, waitedMs);
      if (this.away || this.onTrial) this.tookSomething(writer);
      this.tell(batch, outcomes);
    } catch (error) {
      await this.failed(writer, batch, { error, conflicts });
    }
  }

  /** Reports outcomes rank by rank: settled requests continue, up to sending their answer, before admissions are reported. */
  private tell(batch: readonly Waiting<Operation, Outcome>[], outcomes: readonly Committed<Outcome>[]): void {
    let index = 0;
    let told: number | null = null;
    for (const waiting of batch) {
      const rank = this.ports.rank(waiting.operation);
      if (told !== null && rank !== told) letGoOn();
      told = rank;
      const committed = outcomes[index++];
      this.ports.spool.taken(waiting.operation);
      if (waiting.refused) this.ports.takeBack(waiting.operation);
      if (committed?.kind === "outcome") waiting.resolve(committed.outcome);
      else waiting.reject(committed?.error ?? new Error("a batch lost an outcome"));
    }
  }

  private async failed(
    writer: Writer<Operation, Outcome>,
    batch: Waiting<Operation, Outcome>[],
    { error, conflicts: { met, sinceMs } }: { error: unknown; conflicts: Conflicts },
  ): Promise<void> {
    if (error instanceof UnknownCommit) {
      this.doubt(batch, error as UnknownCommit<Outcome>);
      return await this.waitIfRefused(error.cause);
    }
    if (this.ports.wasCutIdle(error) && batch.every(({ cut }) => !cut)) return this.leave(writer, batch);
    const kind = this.ports.errorKind(error);
    const enough = met >= CONFLICTS_AT_MOST || performance.now() - sinceMs > CONFLICTS_WITHIN_MS;
    if (kind === "store" || (kind === "conflict" && enough)) {
      this.lost(error, batch);
      return kind === "store" ? await this.waitIfRefused(error) : undefined;
    }
    if (kind === "conflict") {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** met));
      return await this.commit(writer, batch, { met: met + 1, sinceMs });
    }
    await this.halve(writer, batch, error);
  }

  /** This process was suspended, the store is fine: the batch runs once more on the next connection, or is refused. */
  private leave(writer: Writer<Operation, Outcome>, batch: Waiting<Operation, Outcome>[]): void {
    writer.close().catch(() => {}); // already gone
    this.writer = null;
    for (const waiting of batch) waiting.cut = true;
    this.putBack(batch);
  }

  /** Halves a batch that one of its operations spoiled, until that operation is alone. */
  private async halve(
    writer: Writer<Operation, Outcome>,
    batch: Waiting<Operation, Outcome>[],
    error: unknown,
  ): Promise<void> {
    const [first] = batch;
    if (batch.length === 1) {
      first?.reject(error);
      return;
    }
    const middle = batch.length >> 1;
    await this.commit(writer, batch.slice(0, middle));
    // The first half may have lost the connection; the second then waits for the next one.
    if (this.writer === writer) await this.commit(writer, batch.slice(middle));
    else this.putBack(batch.slice(middle));
  }

  /** Waits, because the store would refuse the same thing again at once, over and over. */
  private async waitIfRefused(error: unknown): Promise<void> {
    if (!this.ports.wasRefused(error)) return;
    this.refusing = true;
    await this.tryAgainLater();
  }

  private doubt(batch: Waiting<Operation, Outcome>[], about: UnknownCommit<Outcome>): void {
    this.unknown = { batch, about };
    this.lost(about.cause, []);
    const giveUp = this.ports.jobs.guarded("ledger_commit", () => this.giveUpOn(about));
    setTimeout(giveUp, UNKNOWN_AT_MOST_MS).unref();
  }

  /** The store is away and `batch` was rolled back. What must not be lost waits, the rest is refused. */
  private lost(error: unknown, batch: Waiting<Operation, Outcome>[]): void {
    const { spool } = this.ports;
    const outlives = (operation: Operation): boolean => this.ports.outlives(operation);
    this.failure = error;
    this.away = true;
    this.writer?.close().catch(() => {}); // most likely already gone
    this.writer = null;
    const all = [...batch, ...this.queue.take(Number.MAX_SAFE_INTEGER)];
    this.refuse(all.filter(({ operation }) => !outlives(operation)));
    this.putBack(all.filter(({ operation }) => outlives(operation)));
    const lasting = [...all, ...(this.unknown?.batch ?? [])].filter(({ operation }) => outlives(operation));
    spool.keep(lasting.map(({ operation }) => operation));
  }

  /**
   * If the outcome is still unknown, refuses operations that need not be kept. If one of them turns out to have been
   * committed, it is undone.
   */
  private giveUpOn(about: UnknownCommit<Outcome>): void {
    if (this.unknown?.about !== about) return;
    this.refuse(this.unknown.batch.filter(({ operation }) => !this.ports.outlives(operation)));
  }

  private refuse(waiting: readonly Waiting<Operation, Outcome>[]): void {
    for (const one of waiting) {
      one.refused = true;
      one.reject(overloaded(this.failure ?? undefined));
    }
  }

  private putBack(batch: readonly Waiting<Operation, Outcome>[]): void {
    this.queue.putBack(batch.filter(({ refused }) => !refused));
  }

  private async opened(): Promise<Writer<Operation, Outcome> | null> {
    if (this.closed) return null;
    let writer: Writer<Operation, Outcome> | null = null;
    try {
      writer = await this.ports.open(this.ports.jobs.guarded("ledger_commit", () => this.ended(writer)));
      if (this.unknown !== null) await this.lookUp(writer, this.unknown);
      if (this.closed) {
        await writer.close();
        return null;
      }
      this.writer = writer;
      // A store that refused is back once it has taken what waits; if nothing waits, the next request finds out.
      if (!this.refusing) this.tookSomething(writer);
      else if (this.waiting === 0) this.putOnTrial(writer);
    } catch (error) {
      await writer?.close().catch(() => {});
      this.lost(error, []); // retried until it works
    }
    return this.writer;
  }

  private tookSomething(writer: Writer<Operation, Outcome>): void {
    this.refusing = false;
    this.trialUntilMs = Number.NEGATIVE_INFINITY;
    this.away = !writer.hasRoom();
    if (!this.away) this.reopenInMs = REOPEN_FIRST_MS;
  }

  /** The delays are not reset: otherwise a full store would be closed and reopened all the time. */
  private putOnTrial(writer: Writer<Operation, Outcome>): void {
    this.refusing = false;
    this.away = !writer.hasRoom();
    if (!this.away) this.trialUntilMs = performance.now() + TRIAL_MS;
  }

  /** The connection was lost while idle: it is better to find out now than with the next request. */
  private ended(writer: Writer<Operation, Outcome> | null): void {
    if (this.closed || this.running || writer === null || this.writer !== writer) return;
    this.lost(new Error("the database closed the connection"), []);
    this.start();
  }

  private async lookUp(
    writer: Writer<Operation, Outcome>,
    { batch, about }: Unknown<Operation, Outcome>,
  ): Promise<void> {
    const trace = await writer.happened(
      batch.map(({ operation }) => operation),
      about,
    );
    this.unknown = null;
    if (trace === "yes") return this.tell(batch, about.outcomes);
    if (trace === "untold") this.refuse(batch.filter(({ operation }) => !this.ports.outlives(operation)));
    this.putBack(batch);
  }

  private async tryAgainLater(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.reopenInMs));
    this.reopenInMs = Math.min(this.reopenInMs * 2, REOPEN_AT_MOST_MS);
    if (this.writer !== null && this.waiting === 0) this.putOnTrial(this.writer);
  }
}
