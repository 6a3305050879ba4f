// Why an operator moved credits, in the words they gave: a line of the audit log beside that of the credits, in one commit.
import type { Actor } from "../../domain/actor.ts";
import type { BatchState } from "../commit/batch-state.ts";

/** Says nothing where no reason was given. */
export function tellReason(
  batch: BatchState,
  given: { organizationId: string; externalId: string; reason?: string | undefined; atMs: number },
  actor: Actor,
): void {
  const { organizationId, externalId: target, reason, atMs } = given;
  if (reason === undefined) return;
  batch.changes.auditLines.push({
    atMs,
    actor,
    action: "credits.reason",
    organizationId,
    target,
    after: { reason },
  });
}
