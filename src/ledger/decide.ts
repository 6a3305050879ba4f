// The one place where the ledger's rules are applied, for every store: loaded rows and operations in, outcomes and
// changes out. No SQL, no clock, no I/O (money.md §7). An operation that is itself a bug fails alone.
import type { Actor } from "../contract/actor.ts";
import { type AdmitDecision, decideAdmission } from "./decide-admission.ts";
import { decideCheckpoint } from "./decide-checkpoint.ts";
import { type Owner, decideSettlement, decideVoid } from "./decide-resolution.ts";
import { type Reversal, decideReversal } from "./decide-reversal.ts";
import { type TopUp, decideTopUp } from "./decide-top-up.ts";
import { type BatchContext, Draft } from "./draft.ts";
import type {
  Admission,
  Checkpoint,
  CheckpointOutcome,
  ResolveOutcome,
  ReversalOutcome,
  Settlement,
  TopUpOutcome,
  Voiding,
} from "./ledger.ts";
import type { Changes, Rows } from "./rows.ts";

export type MoneyOperation =
  | { kind: "settle"; settlement: Settlement; owner: Owner }
  | { kind: "void"; voiding: Voiding; owner: Owner }
  | { kind: "checkpoint"; checkpoint: Checkpoint; owner: Owner }
  | { kind: "top_up"; topUp: TopUp; actor: Actor }
  | { kind: "reverse"; reversal: Reversal; actor: Actor }
  | { kind: "admit"; admission: Admission };

export type MoneyOutcome =
  | ResolveOutcome
  | CheckpointOutcome
  | TopUpOutcome
  | ReversalOutcome
  | AdmitDecision;

/** `bug`: this operation contradicts itself; it changed nothing and its promise rejects. */
export type Decided = { kind: "outcome"; outcome: MoneyOutcome } | { kind: "bug"; error: unknown };

/** Takes the rows over. Decides in the order given: see `decisionRank`. */
export function decide(
  rows: Rows,
  operations: readonly MoneyOperation[],
  context: BatchContext,
): { decided: Decided[]; changes: Changes } {
  const draft = new Draft(rows, context);
  const decided = operations.map((operation): Decided => {
    try {
      return { kind: "outcome", outcome: decideOne(draft, operation) };
    } catch (error) {
      return { kind: "bug", error };
    }
  });
  return { decided, changes: draft.close() };
}

function decideOne(draft: Draft, operation: MoneyOperation): MoneyOutcome {
  switch (operation.kind) {
    case "settle":
      return decideSettlement(draft, operation.settlement, operation.owner);
    case "void":
      return decideVoid(draft, operation.voiding, operation.owner);
    case "checkpoint":
      return decideCheckpoint(draft, operation.checkpoint, operation.owner);
    case "top_up":
      return decideTopUp(draft, operation.topUp, operation.actor);
    case "reverse":
      return decideReversal(draft, operation.reversal, operation.actor);
    case "admit":
      return decideAdmission(draft, operation.admission);
  }
}
