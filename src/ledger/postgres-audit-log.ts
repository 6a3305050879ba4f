// The append-only audit log on PostgreSQL (hardening.md S40): a line is written in the transaction of its change.
import type { AuditLogRecord } from "./ledger.ts";
import { int, text, textOrNull } from "./postgres-cell.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import type { AuditLine } from "./rows.ts";

/** Rises with time, and within this process with every call. */
export const newAuditId = (): string => `aud_${Bun.randomUUIDv7().replaceAll("-", "")}`;

export async function appendAuditLine(on: Asking, line: AuditLine): Promise<void> {
  const { atMs, actor, action, organizationId, target, before, after } = line;
  const { id, address, requestId } = actor;
  await askOnce(
    on,
    `INSERT INTO audit_log (id, at, actor, address, request_id, action, org_id, target, value_before, value_after)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [newAuditId(), atMs, id, address, requestId, action, organizationId, target, before, after],
  );
}

/** Newest first. */
export async function readAuditLog(
  on: Asking,
  { organizationId = null, limit }: { organizationId?: string | null; limit: number },
): Promise<AuditLogRecord[]> {
  const rows = await askOnce(
    on,
    `SELECT at, actor, address, request_id, action, org_id, target, value_before, value_after FROM audit_log
     WHERE ($1::text IS NULL OR org_id = $1) ORDER BY id DESC LIMIT $2`,
    [organizationId, limit],
  );
  return rows.map(([at, actor, address, requestId, action, organization, target, before, after]) => ({
    at: int(at),
    actor: text(actor),
    address: textOrNull(address),
    requestId: textOrNull(requestId),
    action: text(action),
    organizationId: textOrNull(organization),
    target: text(target),
    before: textOrNull(before),
    after: textOrNull(after),
  }));
}
