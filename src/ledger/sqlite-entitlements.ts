// Research Mode entitlements on SQLite: requested, approved until an instant, revoked. Expiry is not a write: whoever
// reads compares with the clock (specification 5.4).
import type { Actor } from "../contract/actor.ts";
import type { Database } from "bun:sqlite";
import type { EntitlementRecord } from "./ledger.ts";
import { appendAuditLine, printedValue } from "./sqlite-audit-log.ts";
import { type Cell, int, intOrNull, text, textOrNull } from "./sqlite-cell.ts";
import type { SqliteOrganizations } from "./sqlite-organizations.ts";

export interface NewEntitlement {
  id: string;
  organizationId: string;
  model: string;
  project: string;
}

const SELECT = `SELECT id, org_id, model, project, state, requested_by, approved_by, created_at, expires_at FROM entitlement`;

export class SqliteEntitlements {
  constructor(
    private readonly database: Database,
    private readonly organizations: SqliteOrganizations,
  ) {}

  /** Null when there is no such organization. */
  request(entitlement: NewEntitlement, actor: Actor, nowMs: number): EntitlementRecord | null {
    const { id, organizationId, model, project } = entitlement;
    if (this.organizations.find(organizationId) === null) return null;
    this.database
      .query(
        `INSERT INTO entitlement (org_id, model, id, project, state, requested_by, created_at)
         VALUES (?1, ?2, ?3, ?4, 'requested', ?5, ?6)`,
      )
      .run(organizationId, model, id, project, actor.id, nowMs);
    const after = printedValue({ status: "requested", model, project });
    this.log(entitlement, { actor, action: "entitlement.request", before: null, after }, nowMs);
    return this.find(id, nowMs);
  }

  /** Only from `requested`; in another state the record comes back as it is. */
  approve(
    id: string,
    approval: { expiresAtMs: number; actor: Actor },
    nowMs: number,
  ): EntitlementRecord | null {
    const found = this.find(id, nowMs);
    if (found?.status !== "requested") return found;
    const { expiresAtMs, actor } = approval;
    // From the newest stamp on: requests admitted under it must not look older than the approval (I15).
    this.database
      .query(
        "UPDATE entitlement SET state = 'active', approved_by = ?2, approved_at = ?3, expires_at = ?4 WHERE id = ?1",
      )
      .run(id, actor.id, nowMs, expiresAtMs);
    const after = printedValue({ status: "active", expires_at: new Date(expiresAtMs).toISOString() });
    const line = {
      actor,
      action: "entitlement.approve",
      before: printedValue({ status: found.status }),
      after,
    };
    this.log(found, line, nowMs);
    return this.find(id, nowMs);
  }

  revoke(id: string, actor: Actor, nowMs: number): EntitlementRecord | null {
    const found = this.find(id, nowMs);
    if (found === null || found.status === "revoked") return found;
    const revokedAtMs = Math.max(nowMs, this.organizations.newestStampMs(found.organizationId));
    this.database
      .query("UPDATE entitlement SET state = 'revoked', revoked_at = ?2 WHERE id = ?1")
      .run(id, revokedAtMs);
    const [before, after] = [printedValue({ status: found.status }), printedValue({ status: "revoked" })];
    this.log(found, { actor, action: "entitlement.revoke", before, after }, nowMs);
    return { ...found, status: "revoked" };
  }

  all(organizationId: string | undefined, nowMs: number): EntitlementRecord[] {
    const rows =
      organizationId === undefined
        ? this.database.query(`${SELECT} ORDER BY created_at, id`).values()
        : this.database.query(`${SELECT} WHERE org_id = ?1 ORDER BY created_at, id`).values(organizationId);
    return (rows as Cell[][]).map((row) => entitlementOf(row, nowMs));
  }

  private find(id: string, nowMs: number): EntitlementRecord | null {
    const row = this.database.query(`${SELECT} WHERE id = ?1`).values(id)[0];
    return row === undefined ? null : entitlementOf(row as Cell[], nowMs);
  }

  private log(
    { id, organizationId }: { id: string; organizationId: string },
    line: { actor: Actor; action: string; before: string | null; after: string },
    nowMs: number,
  ): void {
    appendAuditLine(this.database, { ...line, atMs: nowMs, organizationId, target: id });
  }
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
