// Runs one batch as one SQLite transaction: changes of the operator, then load, decide, write (money.md §7).
// After a failed COMMIT the outcome is unknown: whether it is durable shows only once the store is reopened.
import type { Clock } from "../../lib/clock.ts";
import { crashPoint } from "../../lib/crash-point.ts";
import type { SqliteStore } from "../../store/sqlite.ts";
import { isDiskFull, isStoreFailure } from "../../store/sqlite-error.ts";
import type { Trace, Writer } from "../commit/writer.ts";
import { type Committed, UnknownCommit } from "../commit/unknown-commit.ts";
import { decide } from "../decide/decide.ts";
import type { BatchContext } from "../commit/batch-state.ts";
import type { Changes } from "../rows.ts";
import { Changed, type Operation, type Outcome } from "../commit/operations.ts";
import type { Unowned } from "../recovery.ts";
import { type Cell, int, text } from "../cell.ts";
import { transactionNumber } from "../transaction-number.ts";
import { ORPHANS_AT_ONCE } from "../upkeep-pace.ts";
import { SqliteConnection } from "./connection.ts";

interface Applied {
  outcomes: Committed<Outcome>[];
  changes: Changes;
}

/** The writer of the group commit: called for one batch at a time; it never awaits. */
export class SqliteCommit implements Writer<Operation, Outcome> {
  connection: SqliteConnection;
  private transactions = 0;

  constructor(
    private readonly store: SqliteStore,
    private readonly clock: Clock,
    private readonly terms: Pick<BatchContext, "retention" | "rateDefaults" | "isStopped">,
  ) {
    this.connection = new SqliteConnection(store, terms);
  }

  /** Commits the batch and returns outcomes in its order. Throws if it was rolled back; `UnknownCommit` if that is unknown. */
  commit(operations: readonly Operation[]): Committed<Outcome>[] {
    const { writer } = this.store;
    const txn = this.nextTransaction();
    let applied: Applied | null = null;
    try {
      this.connection.begin();
      applied = this.apply(operations, this.context(txn));
      crashBefore(operations);
      this.connection.commit();
      crashAfter(operations);
      return applied.outcomes;
    } catch (error) {
      if (writer.inTransaction) writer.run("ROLLBACK");
      if (isDiskFull(error)) this.store.reserve.giveUp();
      if (applied === null || !isStoreFailure(error)) throw error;
      throw new UnknownCommit(txn, applied.changes, applied.outcomes, error);
    }
  }

  /** Returns the context that a batch would be decided in now. */
  context(txn = 0): BatchContext {
    return { nowMs: this.clock.nowMs(), txn, epoch: this.store.epoch, ...this.terms };
  }

  /** Replaces the connection; throws while the store takes no writes. */
  reopen(): void {
    this.store.reopen();
    this.connection = new SqliteConnection(this.store, this.terms);
    this.store.writer.run("UPDATE store_state SET epoch = epoch WHERE id = 1");
  }

  /** Without its reserve file the store takes only operations that end requests. */
  hasRoom(): boolean {
    return this.store.reserve.restore();
  }

  /** A transaction is atomic, so one of its rows is enough to tell. Changes of the operator leave no trace. */
  happened(
    _operations: readonly Operation[],
    { txn, changes: { entries, opened, closed } }: UnknownCommit<Outcome>,
  ): Trace {
    const [entry] = entries;
    const [request] = [...opened, ...closed];
    const found = (statement: string, ...values: (string | number)[]): Trace =>
      this.store.writer.query(statement).values(...values, txn).length > 0 ? "yes" : "no";
    if (entry !== undefined)
      return found(
        "SELECT 1 FROM ledger_entry WHERE org_id = ?1 AND slot = ?2 AND version = ?3 AND txn = ?4",
        entry.organizationId,
        entry.slot,
        entry.version,
      );
    return request === undefined
      ? "untold"
      : found(
          "SELECT 1 FROM request WHERE org_id = ?1 AND request_id = ?2 AND (opened_txn = ?3 OR closed_txn = ?3)",
          request.organizationId,
          request.requestId,
        );
  }

  /** The store outlives its ledger. */
  async close(): Promise<void> {}

  /** Returns some unfinished requests of earlier boots, or with a deadline before this time: their owner gave up. */
  unowned(deadlineBeforeMs: number): Unowned[] {
    return this.unownedWhere(
      `(epoch < ?1 OR deadline_at < ?2) AND NOT EXISTS (SELECT 1 FROM quarantine q
         WHERE q.org_id = request.org_id AND q.request_id = request.request_id AND q.decided_at IS NULL)
       LIMIT ${ORPHANS_AT_ONCE}`,
      this.store.epoch,
      deadlineBeforeMs,
    );
  }

  private apply(operations: readonly Operation[], context: BatchContext): Applied {
    const changed = operations.map((operation) =>
      operation.kind === "change" ? this.connection.run(operation.work(context.nowMs)) : undefined,
    );
    const money = operations.filter((operation) => operation.kind !== "change");
    const { decided, changes } = decide(this.connection.load.rows(money, context.nowMs), money, context);
    this.connection.write.write(changes);
    const next = decided.values();
    const outcomes = operations.map((operation, index): Committed<Outcome> => {
      if (operation.kind === "change") return { kind: "outcome", outcome: new Changed(changed[index]) };
      const { value: one } = next.next();
      if (one === undefined) throw new Error("an operation was not decided");
      return one;
    });
    return { outcomes, changes };
  }

  private nextTransaction(): number {
    this.transactions += 1;
    return transactionNumber(this.store.epoch, this.transactions);
  }

  private unownedWhere(condition: string, ...values: number[]): Unowned[] {
    const rows = this.store.writer
      .query(
        `SELECT org_id, request_id, epoch, admitted_at FROM request WHERE state = 'dispatched' AND ${condition}`,
      )
      .values(...values) as Cell[][];
    return rows.map(([organizationId, requestId, epoch, admittedAt]) => ({
      organizationId: text(organizationId),
      requestId: text(requestId),
      epoch: int(epoch),
      admittedAtMs: int(admittedAt),
      dispatched: true,
    }));
  }
}

function crashBefore(operations: readonly Operation[]): void {
  for (const { kind } of operations) {
    if (kind === "admit") crashPoint("before_commit1");
    if (kind === "settle" || kind === "void") crashPoint("before_commit2");
  }
}

function crashAfter(operations: readonly Operation[]): void {
  for (const { kind } of operations) {
    if (kind === "admit") crashPoint("after_commit1");
    if (kind === "settle" || kind === "void") crashPoint("after_commit2");
  }
}
