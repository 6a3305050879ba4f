// Research Mode entitlements on PostgreSQL: requested, approved until an instant, revoked, under their organization's
// lock. Expiry is not a write: whoever reads compares with the clock (specification 5.4).
import type { Actor } from "../contract/actor.ts";
import type { EntitlementRecord } from "./ledger.ts";
import { appendAuditLine } from "./postgres-audit-log.ts";
import { type Cell, int, intOrNull, text, textOrNull } from "./postgres-cell.ts";
import { lockOrganization } from "./postgres-organizations.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { printedValue } from "./sqlite-audit-log.ts";

export interface NewEntitlement {
  id: string;
  organizationId: string;
  model: string;
  project: string;
  actor: Actor;
}

const SELECT = `SELECT id, org_id, model, project, state, requested_by, approved_by, created_at, expires_at FROM entitlement`;

/** Null when there is no such organization. */
export async function requestEntitlement(
  on: Asking,
  entitlement: NewEntitlement,
  nowMs: number,
): Promise<EntitlementRecord | null> {
  const { id, organizationId, model, project, actor } = entitlement;
  if ((await lockOrganization(on, organizationId)) === null) return null;
  await askOnce(
    on,
    `INSERT INTO entitlement (org_id, model, id, project, state, requested_by, created_at)
     VALUES ($1, $2, $3, $4, 'requested', $5, $6)`,
    [organizationId, model, id, project, actor.id, nowMs],
  );
  const after = printedValue({ status: "requested", model, project });
  await log(on, entitlement, { actor, action: "entitlement.request", before: null, after, atMs: nowMs });
  return find(on, id, nowMs);
}

/** Only from `requested`; in another state the record comes back as it is. */
export async function approveEntitlement(
  on: Asking,
  { id, expiresAtMs, actor }: { id: string; expiresAtMs: number; actor: Actor },
  nowMs: number,
): Promise<EntitlementRecord | null> {
  const { found } = await locked(on, id, nowMs);
  if (found?.status !== "requested") return found;
  await askOnce(
    on,
    `UPDATE entitlement SET state = 'active', approved_by = $3, approved_at = $4, expires_at = $5
     WHERE org_id = $1 AND id = $2 AND state = 'requested'`,
    [found.organizationId, id, actor.id, nowMs, expiresAtMs],
  );
  const [before, after] = [
    printedValue({ status: found.status }),
    printedValue({ status: "active", expires_at: new Date(expiresAtMs).toISOString() }),
  ];
  await log(on, found, { actor, action: "entitlement.approve", before, after, atMs: nowMs });
  return find(on, id, nowMs);
}

export async function revokeEntitlement(
  on: Asking,
  { id, actor }: { id: string; actor: Actor },
  nowMs: number,
): Promise<EntitlementRecord | null> {
  const { found, stampedAtMs } = await locked(on, id, nowMs);
  if (found === null || found.status === "revoked") return found;
  await askOnce(
    on,
    "UPDATE entitlement SET state = 'revoked', revoked_at = $3 WHERE org_id = $1 AND id = $2",
    [found.organizationId, id, Math.max(nowMs, stampedAtMs)],
  );
  const [before, after] = [printedValue({ status: found.status }), printedValue({ status: "revoked" })];
  await log(on, found, { actor, action: "entitlement.revoke", before, after, atMs: nowMs });
  return { ...found, status: "revoked" };
}

export async function allEntitlements(
  on: Asking,
  organizationId: string | undefined,
  nowMs: number,
): Promise<EntitlementRecord[]> {
  const rows = await askOnce(on, `${SELECT} WHERE $1::text IS NULL OR org_id = $1 ORDER BY created_at, id`, [
    organizationId ?? null,
  ]);
  return rows.map((row) => entitlementOf(row, nowMs));
}

/** The entitlement as it is under its organization's lock. */
async function locked(
  on: Asking,
  id: string,
  nowMs: number,
): Promise<{ found: EntitlementRecord | null; stampedAtMs: number }> {
  const [owner] = await askOnce(on, "SELECT org_id FROM entitlement WHERE id = $1", [id]);
  if (owner === undefined) return { found: null, stampedAtMs: 0 };
  const stampedAtMs = (await lockOrganization(on, text(owner[0]))) ?? 0;
  return { found: await find(on, id, nowMs), stampedAtMs };
}

async function find(on: Asking, id: string, nowMs: number): Promise<EntitlementRecord | null> {
  const [row] = await askOnce(on, `${SELECT} WHERE id = $1`, [id]);
  return row === undefined ? null : entitlementOf(row, nowMs);
}

async function log(
  on: Asking,
  { id, organizationId }: { id: string; organizationId: string },
  line: { actor: Actor; action: string; before: string | null; after: string; atMs: number },
): Promise<void> {
  await appendAuditLine(on, { ...line, organizationId, target: id });
}

function entitlementOf(row: Cell[], nowMs: number): EntitlementRecord {
  const [id, organizationId, model, project, state, requestedBy, approvedBy, createdAt, expires] = row;
  const expiresAtMs = intOrNull(expires);
  const expired = state === "active" && expiresAtMs !== null && nowMs >= expiresAtMs;
  return {
    id: text(id),
    organizationId: text(organizationId),
    model: text(model),
    project: text(project),
    status: expired ? "expired" : (state as EntitlementRecord["status"]),
    requestedBy: text(requestedBy),
    approvedBy: textOrNull(approvedBy),
    createdAtMs: int(createdAt),
    expiresAtMs,
  };
}
