// What goes through the single writer, so that everything has one order: money operations, and the
// operator's changes to keys, limits, entitlements and routes (money.md §7, §10).
import type { MoneyOperation, MoneyOutcome } from "../decide/decide.ts";
import type { Work } from "../ledger.ts";

/** A change outside the money path. It runs inside the batch's transaction, before the batch is decided. */
interface ChangeOperation {
  kind: "change";
  work: Work<unknown>;
}

export type Operation = MoneyOperation | ChangeOperation;
export type Outcome = MoneyOutcome | Changed;

/** The result of a change. A class, so that it can be distinguished from the outcomes of money operations. */
export class Changed {
  constructor(readonly value: unknown) {}
}

/** Settlements and voids first, then money in or back, changes of the rules and progress, then admissions. */
export function decisionRank(operation: Operation): 0 | 1 | 2 {
  switch (operation.kind) {
    case "settle":
    case "void":
      return 0;
    case "checkpoint":
    case "top_up":
    case "reverse":
    case "by_hand":
    case "change":
      return 1;
    case "admit":
      return 2;
  }
}

/** A hold that is not resolved stays forever, so its resolution is retried forever. */
export const survives = ({ kind }: Operation): boolean => kind === "settle" || kind === "void";

/** Returns the operation's organization: on PostgreSQL all operations of one go through one connection of the process. */
export function organizationOf(operation: MoneyOperation): string {
  switch (operation.kind) {
    case "settle":
      return operation.settlement.organizationId;
    case "void":
      return operation.voiding.organizationId;
    case "checkpoint":
      return operation.checkpoint.organizationId;
    case "top_up":
      return operation.topUp.organizationId;
    case "reverse":
      return operation.reversal.organizationId;
    case "by_hand":
      return operation.ending.organizationId;
    case "admit":
      return operation.admission.credential.organizationId;
  }
}
