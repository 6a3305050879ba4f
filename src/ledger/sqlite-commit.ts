// One batch as one SQLite transaction: changes of the operator, then load, decide, write (money.md §7). Knows which of
// its transactions failed without a known outcome, so that what they did can be found or taken back afterwards.
import { SQLiteError } from "bun:sqlite";
import type { Clock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { SqliteStore } from "../store/sqlite.ts";
import type { Committed } from "./batch.ts";
import { decide, type MoneyOperation } from "./decide.ts";
import type { BatchContext } from "./draft.ts";
import type { RequestRecord } from "./ledger.ts";
import type { Operation, Outcome } from "./operations.ts";
import { type Orphan, takeBack } from "./recovery.ts";
import { openChunk } from "./answer-vault.ts";
import { bytes, type Cell, int, text } from "./sqlite-cell.ts";
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
      crashBefore(operations);
      writer.run("COMMIT");
      crashAfter(operations);
      return committed;
    } catch (error) {
      if (writer.inTransaction) writer.run("ROLLBACK");
      if (isStoreFailure(error)) this.remember(operations, txn);
      if (isDiskFull(error)) this.store.ballast.giveUp();
      throw error;
    }
  }

  /** What a batch would be decided on now. */
  context(txn = 0): BatchContext {
    return { nowMs: this.clock.nowMs(), txn, epoch: this.store.epoch, retention: this.retention };
  }

  /**
   * A new connection that takes writes again, and the operations that take back what nobody was told about. Without the
   * ballast it takes only what ends requests.
   */
  restore(): { takes: "all" | "survivors"; takenBack: MoneyOperation[] } {
    this.store.reopen();
    this.connection = new SqliteConnection(this.store);
    this.store.writer.run("UPDATE store_state SET epoch = epoch WHERE id = 1");
    const orphans = [...this.unknown].flatMap((txn) => this.admittedIn(txn));
    this.unknown.clear();
    return {
      takes: this.store.ballast.restore() ? "all" : "survivors",
      takenBack: orphans.map((orphan) => takeBack(orphan, this.clock.nowMs())),
    };
  }

  /** Some requests without an end whose owner is of an earlier boot, or that are past this time: its owner gave up. */
  orphans(deadlineBeforeMs: number): Orphan[] {
    return this.orphansWhere(
      `(epoch < ?1 OR deadline_at < ?2) LIMIT ${ORPHANS_AT_ONCE}`,
      this.store.epoch,
      deadlineBeforeMs,
    );
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

  private orphansWhere(condition: string, ...values: number[]): Orphan[] {
    const rows = this.store.writer
      .query(
        `SELECT request_id, epoch, prompt_tokens, delivered_tokens FROM request
         WHERE state = 'dispatched' AND ${condition}`,
      )
      .values(...values) as Cell[][];
    return rows.map(([requestId, epoch, promptTokens = null, deliveredTokens = null]) => {
      const record = this.connection.requests.find(text(requestId));
      if (record === null) throw new Error(`request ${text(requestId)} has no record`);
      return {
        record,
        epoch: int(epoch),
        progress: deliveredTokens === null ? null : this.progressOf(record, [promptTokens, deliveredTokens]),
        sent: deliveredTokens === null ? new Uint8Array() : this.sentOf(record),
      };
    });
  }

  private progressOf({ releaseDigest }: RequestRecord, [prompt, delivered]: Cell[]): Orphan["progress"] {
    const release = this.connection.releases.find(releaseDigest);
    if (release === null) throw new Error(`release ${releaseDigest} is not there`);
    return { promptTokens: int(prompt), deliveredTokens: int(delivered), release };
  }

  /** The chunks in order, up to the first that is missing. */
  private sentOf({ organizationId, requestId }: RequestRecord): Uint8Array {
    const rows = this.store.writer
      .query("SELECT seq, sealed FROM stream_chunk WHERE org_id = ?1 AND request_id = ?2 ORDER BY seq")
      .values(organizationId, requestId) as Cell[][];
    const chunks = rows.map(([seq, sealed]) => ({ seq: int(seq), bytes: bytes(sealed) }));
    const whole = chunks.filter(({ seq }, index) => seq === index);
    const { dataKey } = this.store;
    return Buffer.concat(whole.map((chunk) => openChunk(dataKey, { organizationId, requestId }, chunk)));
  }
}

/** Recovery of many holds their chunks in memory. */
const ORPHANS_AT_ONCE = 200;

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

const isDiskFull = (error: unknown): boolean => error instanceof SQLiteError && error.code === "SQLITE_FULL";

/** Whether SQLite itself failed, rather than one statement of the batch. */
export const isStoreFailure = (error: unknown): boolean =>
  error instanceof SQLiteError && STORE_FAILURES.test(error.code ?? "");
