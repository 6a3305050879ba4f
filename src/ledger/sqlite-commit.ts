// One batch as one SQLite transaction: changes of the operator, then load, decide, write (money.md §7). Knows which of
// its transactions failed without a known outcome, so that what they did can be found or taken back afterwards.
import { SQLiteError } from "bun:sqlite";
import type { Clock } from "../lib/clock.ts";
import type { SqliteStore } from "../store/sqlite.ts";
import type { Committed } from "./batch.ts";
import { decide, type MoneyOperation } from "./decide.ts";
import type { BatchContext } from "./draft.ts";
import type { Operation, Outcome } from "./operations.ts";
import { type Orphan, takeBack } from "./recovery.ts";
import { type Cell, int, text } from "./sqlite-cell.ts";
import { SqliteConnection } from "./sqlite-connection.ts";

/** Transactions per boot that stay apart from those of every other boot. */
const TRANSACTIONS_PER_EPOCH = 1_000_000_000;

const STORE_FAILURES = /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|BUSY|NOMEM|PROTOCOL|LOCKED)/;

export class SqliteCommit {
  connection: SqliteConnection;
  private transactions = 0;
  /** Transactions that threw on the way: durable or not, nobody knows before the store was reopened. */
  private readonly unknown = new Set<number>();

  constructor(
    private readonly store: SqliteStore,
    private readonly clock: Clock,
    private readonly retention: BatchContext["retention"],
  ) {
    this.connection = new SqliteConnection(store);
  }

  /** Commits the batch; outcomes in its order. Throws when it was rolled back. */
  run(operations: readonly Operation[]): Committed<Outcome>[] {
    const { writer } = this.store;
    const txn = this.nextTransaction();
    try {
      writer.run("BEGIN IMMEDIATE");
      const committed = this.apply(operations, this.context(txn));
      writer.run("COMMIT");
      return committed;
    } catch (error) {
      if (writer.inTransaction) writer.run("ROLLBACK");
      if (isStoreFailure(error)) this.remember(operations, txn);
      throw error;
    }
  }

  /** What a batch would be decided on now. */
  context(txn = 0): BatchContext {
    return { nowMs: this.clock.nowMs(), txn, epoch: this.store.epoch, retention: this.retention };
  }

  /** A new connection that takes writes again, and the operations that take back what nobody was told about. */
  restore(): MoneyOperation[] {
    this.store.reopen();
    this.connection = new SqliteConnection(this.store);
    this.store.writer.run("UPDATE store_state SET epoch = epoch WHERE id = 1");
    const orphans = [...this.unknown].flatMap((txn) => this.admittedIn(txn));
    this.unknown.clear();
    return orphans.map((orphan) => takeBack(orphan, this.clock.nowMs()));
  }

  /** Requests without an end whose owner is of an earlier boot. */
  orphans(): Orphan[] {
    return this.orphansWhere("epoch < ?1", this.store.epoch);
  }

  private apply(operations: readonly Operation[], context: BatchContext): Committed<Outcome>[] {
    const changed = operations.map((operation) =>
      operation.kind === "change" ? operation.apply(context.nowMs) : undefined,
    );
    const money = operations.filter((operation) => operation.kind !== "change");
    const { decided, changes } = decide(this.connection.load.rows(money, context.nowMs), money, context);
    this.connection.write.write(changes);
    const outcomes = decided.values();
    return operations.map((operation, index): Committed<Outcome> => {
      if (operation.kind === "change")
        return { kind: "outcome", outcome: { of: "change", value: changed[index] } };
      const next = outcomes.next().value;
      if (next === undefined) throw new Error("an operation was not decided");
      return next.kind === "bug"
        ? next
        : { kind: "outcome", outcome: { of: "money", outcome: next.outcome } };
    });
  }

  private nextTransaction(): number {
    this.transactions += 1;
    if (this.transactions >= TRANSACTIONS_PER_EPOCH)
      throw new Error("a boot ran out of transaction numbers: restart");
    return this.store.epoch * TRANSACTIONS_PER_EPOCH + this.transactions;
  }

  private remember(operations: readonly Operation[], txn: number): void {
    this.unknown.add(txn);
    for (const operation of operations)
      if (operation.kind === "settle" || operation.kind === "void") operation.owner.tried.push(txn);
  }

  private admittedIn(txn: number): Orphan[] {
    return this.orphansWhere("opened_txn = ?1", txn);
  }

  private orphansWhere(condition: string, value: number): Orphan[] {
    const rows = this.store.writer
      .query(
        `SELECT org_id, request_id, epoch, admitted_at FROM request WHERE state = 'dispatched' AND ${condition}`,
      )
      .values(value) as Cell[][];
    return rows.map(([organizationId, requestId, epoch, admittedAt]) => ({
      organizationId: text(organizationId),
      requestId: text(requestId),
      epoch: int(epoch),
      admittedAtMs: int(admittedAt),
    }));
  }
}

/** Whether SQLite itself failed, rather than one statement of the batch. */
export const isStoreFailure = (error: unknown): boolean =>
  error instanceof SQLiteError && STORE_FAILURES.test(error.code ?? "");
