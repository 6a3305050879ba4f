// What a group commit needs from a store: a connection that takes batches, and the fate of a batch that was cut.
import type { Committed, UnknownCommit } from "./unknown-commit.ts";

/** A connection that takes batches. */
export interface Writer<Operation, Outcome> {
  /** Runs one transaction; outcomes in the order of the operations. Throws `UnknownCommit`, or the cause of the rollback. */
  commit(operations: readonly Operation[]): Committed<Outcome>[] | Promise<Committed<Outcome>[]>;
  /** Returns whether a transaction of an earlier connection happened; "untold" if no trace could show it. */
  happened(operations: readonly Operation[], about: UnknownCommit<Outcome>): Trace | Promise<Trace>;
  /** False while there is only room for what must not be lost. */
  hasRoom(): boolean;
  close(): Promise<void>;
}

/** Whether a transaction left its trace in the store. */
export type Trace = "yes" | "no" | "untold";
