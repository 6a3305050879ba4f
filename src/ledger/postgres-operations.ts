// What goes through a lane of the PostgreSQL ledger: money operations, and the fence that stands between a durable hold
// and the first byte to a provider, so that no two gateways ever both believe a request to be theirs (money.md §2).
import type { MoneyOperation, MoneyOutcome } from "./decide.ts";
import { decisionRank, survives } from "./operations.ts";

/** admitted → dispatched, while request, owner, lease and deadline are as they were. */
export interface Fence {
  kind: "fence";
  organizationId: string;
  requestId: string;
}

/** `late`: the request is not ours any more; nothing may be sent for it. */
export type FenceOutcome = { kind: "fenced" } | { kind: "late" };

export type LaneOperation = MoneyOperation | Fence;
export type LaneOutcome = MoneyOutcome | FenceOutcome;

export const rankOf = (operation: LaneOperation): 0 | 1 | 2 =>
  operation.kind === "fence" ? 0 : decisionRank(operation);

export const outlives = (operation: LaneOperation): boolean =>
  operation.kind !== "fence" && survives(operation);

/** Whose lane an operation takes: all operations of an organization go through one connection of the process. */
export function organizationOf(operation: LaneOperation): string {
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
    case "admit":
      return operation.admission.credential.organizationId;
    case "fence":
      return operation.organizationId;
  }
}
