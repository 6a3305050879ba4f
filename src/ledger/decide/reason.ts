// The reason an operator gave for moving credits: a line of the audit log next to that of the credits, in one commit.
import type { Actor } from "../../domain/actor.ts";
import type { BatchState } from "../commit/batch-state.ts";

/** Writes nothing if no reason was given. */
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
