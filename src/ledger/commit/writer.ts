// What a group commit needs of a store: one connection that takes batches, and what became of one that was cut.
import type { Committed, UnknownCommit } from "./unknown-commit.ts";

/** One connection that takes batches. */
export interface Writer<Operation, Outcome> {
  /** One transaction, outcomes in the order of the operations. Throws `UnknownCommit`, or what it was rolled back for. */
  commit(operations: readonly Operation[]): Committed<Outcome>[] | Promise<Committed<Outcome>[]>;
  /** Whether a transaction of an earlier connection happened; "untold" where it left no trace that could tell. */
  happened(operations: readonly Operation[], about: UnknownCommit<Outcome>): Trace | Promise<Trace>;
  /** False while there is only room for what must not be lost. */
  hasRoom(): boolean;
  close(): Promise<void>;
}

/** What a transaction left in the store, or did not. */
export type Trace = "yes" | "no" | "untold";
