// A transaction for which it is not known whether it was committed (money.md §7).
import type { Changes } from "../rows.ts";

/** The result of one operation of a committed batch. */
export type Committed<Outcome> = { kind: "outcome"; outcome: Outcome } | { kind: "bug"; error: unknown };

/** Carries what is needed to find out, and what to tell the callers if it happened. */
export class UnknownCommit<Outcome> extends Error {
  constructor(
    readonly txn: number,
    readonly changes: Changes,
    readonly outcomes: Committed<Outcome>[],
    cause: unknown,
  ) {
    super("the answer to a commit was lost", { cause });
  }
}
