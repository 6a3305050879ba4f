// The only place where the ledger's rules are applied, for every store: takes loaded rows and operations, returns outcomes and
// changes. No SQL, no clock, no I/O (money.md §7). An operation that is itself a bug fails alone and leaves nothing behind.
import type { Actor } from "../../domain/actor.ts";
import { type DecidedAdmission, decideAdmission } from "./admission.ts";
import { decideByHand } from "./by-hand.ts";
import { decideCheckpoint } from "./checkpoint.ts";
import { type Owner, decideSettlement, decideVoid } from "./resolution.ts";
import { type Reversal, decideReversal } from "./reversal.ts";
import { type TopUp, decideTopUp } from "./top-up.ts";
import { type BatchContext, BatchState } from "../commit/batch-state.ts";
import type {
  AdmissionRequest,
  Checkpoint,
  CheckpointOutcome,
  EndedByHand,
  EndingByHand,
  ResolveOutcome,
  ReversalOutcome,
  Settlement,
  TopUpOutcome,
  Voiding,
} from "../ledger.ts";
import { type Changes, noChanges, type Rows } from "../rows.ts";

export type MoneyOperation =
  | { kind: "settle"; settlement: Settlement; owner: Owner }
  | { kind: "void"; voiding: Voiding; owner: Owner }
  | { kind: "checkpoint"; checkpoint: Checkpoint; owner: Owner }
  | { kind: "top_up"; topUp: TopUp; actor: Actor }
  | { kind: "reverse"; reversal: Reversal; actor: Actor }
  | { kind: "by_hand"; ending: EndingByHand; actor: Actor }
  | { kind: "admit"; admission: AdmissionRequest };

export type MoneyOutcome =
  | ResolveOutcome
  | CheckpointOutcome
  | TopUpOutcome
  | ReversalOutcome
  | EndedByHand
  | DecidedAdmission;

/** `bug`: the operation contradicts itself; it changed nothing and its promise rejects. */
export type Decided = { kind: "outcome"; outcome: MoneyOutcome } | { kind: "bug"; error: unknown };

/** An operation of a batch contradicts itself: the group commit halves the batch until that operation is alone. */
class Contradiction extends Error {
  override readonly name = "Contradiction";

  constructor(cause: unknown) {
    super("an operation of this batch contradicts itself", { cause });
  }
}

/**
 * Takes ownership of the rows. Decides in the given order: see `decisionRank`. Throws if one of several operations
 * contradicts itself, because what it moved before that was found cannot be separated from what the others moved.
 */
export function decide(
  rows: Rows,
  operations: readonly MoneyOperation[],
  context: BatchContext,
): { decided: Decided[]; changes: Changes } {
  const batch = new BatchState(rows, context);
  const decided: Decided[] = [];
  for (const operation of operations)
    try {
      decided.push({ kind: "outcome", outcome: decideOne(batch, operation) });
    } catch (error) {
      if (operations.length > 1) throw new Contradiction(error);
      return { decided: [{ kind: "bug", error }], changes: noChanges() };
    }
  return { decided, changes: batch.close() };
}

function decideOne(batch: BatchState, operation: MoneyOperation): MoneyOutcome {
  switch (operation.kind) {
    case "settle":
      return decideSettlement(batch, operation.settlement, operation.owner);
    case "void":
      return decideVoid(batch, operation.voiding, operation.owner);
    case "checkpoint":
      return decideCheckpoint(batch, operation.checkpoint, operation.owner);
    case "top_up":
      return decideTopUp(batch, operation.topUp, operation.actor);
    case "reverse":
      return decideReversal(batch, operation.reversal, operation.actor);
    case "by_hand":
      return decideByHand(batch, operation.ending, operation.actor);
    case "admit":
      return decideAdmission(batch, operation.admission);
  }
}
