// Group commit: the operations of one event-loop tick form one transaction, and while it runs the next batch gathers.
// A lone operation waits for no timer; one that the store refuses fails alone; settlements outlive a store that is
// down, everything else is refused at once (money.md §7, performance.md §3).
import { overloaded } from "../contract/overloaded.ts";
import { messageOf } from "../lib/message.ts";
import type { Pulse } from "./pulse.ts";

/** What came of one operation of a committed batch. */
export type Committed<Outcome> = { kind: "outcome"; outcome: Outcome } | { kind: "bug"; error: unknown };

/** What the store has room for: everything, or only what must not be lost. */
export type Takes = "all" | "survivors";

export interface BatchPorts<Operation, Outcome> {
  /** One transaction, outcomes in the order of the operations. Throws when it was rolled back. */
  commit(operations: readonly Operation[]): Committed<Outcome>[];
  /** 0 is decided first; equal ranks keep the order of arrival. */
  rank(operation: Operation): 0 | 1 | 2;
  /** True for what must not be lost: it is tried again until the store takes it. */
  survives(operation: Operation): boolean;
  /** Whether the store failed, rather than one operation of the batch. */
  isStoreFailure(error: unknown): boolean;
  /** Tries to get the store back after a failure; throws while it cannot. */
  restore(): Takes;
  pulse: Pick<Pulse, "committed">;
}

export interface BatchLimits {
  operationsPerBatch: number;
  /** Waiting operations above which new ones are refused. */
  queue: number;
}

interface Waiting<Operation, Outcome> {
  operation: Operation;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

const RESTORE_FIRST_MS = 50;
const RESTORE_AT_MOST_MS = 2_000;

export class Batcher<Operation, Outcome> {
  /** One queue per rank. */
  private readonly queues: Waiting<Operation, Outcome>[][] = [[], [], []];
  private scheduled = false;
  private takes: Takes | "nothing" = "all";
  private restoring = false;
  private closed = false;
  private restoreInMs = RESTORE_FIRST_MS;
  private failure: unknown = null;
  private whenIdle: (() => void)[] = [];

  constructor(
    private readonly ports: BatchPorts<Operation, Outcome>,
    private readonly limits: BatchLimits,
  ) {}

  /** False while the store takes no writes. */
  get ready(): boolean {
    return this.takes === "all" && !this.closed;
  }

  /** What the store failed with, last. */
  get trouble(): string {
    return messageOf(this.failure);
  }

  /** Resolves when the operation is durable. Rejects with `overloaded` when the queue is full or the store is down. */
  submit(operation: Operation): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const refuses = !this.ready || this.waiting >= this.limits.queue;
      if (refuses && !(this.ports.survives(operation) && !this.closed)) {
        reject(overloaded());
        return;
      }
      this.queues[this.ports.rank(operation)]?.push({ operation, resolve, reject });
      this.schedule();
    });
  }

  /** Commits what waits, then takes nothing more. What a dead store did not take by then is rejected. */
  async close(): Promise<void> {
    if (this.waiting > 0 && this.takes !== "nothing")
      await new Promise<void>((resolve) => this.whenIdle.push(resolve));
    this.closed = true;
    for (const waiting of this.take(Number.MAX_SAFE_INTEGER)) waiting.reject(overloaded());
  }

  get waiting(): number {
    return this.queues.reduce((sum, queue) => sum + queue.length, 0);
  }

  /** Runs after the events of this tick: whatever they submit joins the batch. */
  private schedule(): void {
    if (this.scheduled || this.takes === "nothing") return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.commit(this.take(this.limits.operationsPerBatch));
      if (this.waiting > 0) this.schedule();
      if (this.waiting === 0 || this.takes === "nothing") for (const idle of this.whenIdle.splice(0)) idle();
    });
  }

  private take(atMost: number): Waiting<Operation, Outcome>[] {
    const batch: Waiting<Operation, Outcome>[] = [];
    for (const queue of this.queues) batch.push(...queue.splice(0, atMost - batch.length));
    return batch;
  }

  private commit(batch: Waiting<Operation, Outcome>[]): void {
    if (batch.length === 0) return;
    let outcomes: Committed<Outcome>[];
    const beganMs = performance.now();
    try {
      outcomes = this.ports.commit(batch.map(({ operation }) => operation));
      this.ports.pulse.committed(batch.length, performance.now() - beganMs);
    } catch (error) {
      this.rolledBack(batch, error);
      return;
    }
    for (const [index, waiting] of batch.entries()) {
      const committed = outcomes[index];
      if (committed?.kind === "outcome") waiting.resolve(committed.outcome);
      else waiting.reject(committed?.error ?? new Error("a batch lost an outcome"));
    }
  }

  /** Halves a batch that one of its operations spoiled, until that one stands alone. */
  private rolledBack(batch: Waiting<Operation, Outcome>[], error: unknown): void {
    if (this.ports.isStoreFailure(error)) {
      this.failure = error;
      this.storeFailed(batch);
      return;
    }
    const [first] = batch;
    if (batch.length === 1) {
      first?.reject(error);
      return;
    }
    const middle = batch.length >> 1;
    this.commit(batch.slice(0, middle));
    this.commit(batch.slice(middle));
  }

  private storeFailed(batch: Waiting<Operation, Outcome>[]): void {
    const kept = batch.filter(({ operation }) => this.ports.survives(operation));
    for (const waiting of batch) if (!kept.includes(waiting)) waiting.reject(overloaded());
    this.queues[0]?.unshift(...kept);
    this.takes = "nothing";
    if (this.restoring) return;
    this.restoring = true;
    this.restoreInMs = RESTORE_FIRST_MS;
    this.restoreLater();
  }

  /** Until it takes everything again. */
  private restoreLater(): void {
    setTimeout(() => {
      if (this.closed) return;
      try {
        this.takes = this.ports.restore();
      } catch {
        this.takes = "nothing"; // still down: the next try is the answer to this error
      }
      if (this.waiting > 0) this.schedule();
      this.restoring = this.takes !== "all";
      this.restoreInMs = Math.min(this.restoreInMs * 2, RESTORE_AT_MOST_MS);
      if (this.restoring) this.restoreLater();
    }, this.restoreInMs);
  }
}
