// What goes through a writer of the PostgreSQL ledger: money operations, and the mark "dispatched" that stands between a durable hold
// and the first byte to a provider, so that no two gateways ever both believe a request to be theirs (money.md §2).
import type { MoneyOperation, MoneyOutcome } from "../decide/decide.ts";
import { decisionRank, survives } from "../commit/operations.ts";

/** admitted → dispatched, while request, owner, lease and deadline are as they were. */
export interface Marking {
  kind: "mark_dispatched";
  organizationId: string;
  requestId: string;
}

/** `late`: the request is not ours any more; nothing may be sent for it. */
type MarkingOutcome = { kind: "dispatched" } | { kind: "late" };

export type WriterOperation = MoneyOperation | Marking;
export type WriterOutcome = MoneyOutcome | MarkingOutcome;

/** A mark stands among the settlements: told behind them it costs both sides more (performance.md §5). */
export const rankOf = (operation: WriterOperation): 0 | 1 | 2 =>
  operation.kind === "mark_dispatched" ? 0 : decisionRank(operation);

export const outlives = (operation: WriterOperation): boolean =>
  operation.kind !== "mark_dispatched" && survives(operation);

/** Whose writer an operation takes: all operations of an organization go through one connection of the process. */
export function organizationOf(operation: WriterOperation): string {
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
    case "mark_dispatched":
      return operation.organizationId;
  }
}
