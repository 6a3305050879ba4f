// A running stream's progress as a decision: kept only while the request is open and ours (money.md §4). Moves no money.
import type { Owner } from "./resolution.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { Checkpoint, CheckpointOutcome } from "../ledger.ts";
import { rowId } from "../rows.ts";

/** Returns `lost` once the request has ended or belongs to another owner. Throws for invalid counts. */
export function decideCheckpoint(batch: BatchState, checkpoint: Checkpoint, owner: Owner): CheckpointOutcome {
  const { organizationId, requestId, promptTokens, deliveredTokens } = checkpoint;
  if (!whole(promptTokens) || !whole(deliveredTokens))
    throw new Error(`a checkpoint of ${promptTokens} and ${deliveredTokens} tokens`);
  const request = batch.rows.requests.get(rowId(organizationId, requestId));
  if (request?.state !== "dispatched" || request.epoch !== owner.epoch) return { kind: "lost" };
  const { chunk, attempts, ...progress } = checkpoint;
  batch.changes.checkpoints.push({
    ...progress,
    epoch: owner.epoch,
    attempts: JSON.stringify(attempts),
  });
  if (chunk !== null) batch.changes.chunks.push({ organizationId, requestId, chunk });
  request.checkpointed = true;
  return { kind: "kept" };
}

const whole = (count: number): boolean => Number.isSafeInteger(count) && count >= 0;
