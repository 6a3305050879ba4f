// The append-only audit log: who changed what, from which value to which (hardening.md S40). A line is written in the
// transaction of its change, so neither exists without the other.
import type { Database } from "bun:sqlite";
import type { AuditLogRecord } from "./ledger.ts";
import type { AuditLine } from "./rows.ts";
import { type Cell, int, text, textOrNull } from "./sqlite-cell.ts";

/** `before` and `after` of a line that changes a record: JSON, money as text. */
export const printedValue = (value: Record<string, unknown>): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? member.toString() : member));

const COLUMNS = "at, actor, address, request_id, action, org_id, target, value_before, value_after";
export const INSERT_AUDIT_LINE = `INSERT INTO audit_log (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`;

/** The parameters of `INSERT_AUDIT_LINE`. */
export const auditLineValues = ({ atMs, actor, action, organizationId, target, before, after }: AuditLine) =>
  [atMs, actor.id, actor.address, actor.requestId, action, organizationId, target, before, after] as const;

export function appendAuditLine(database: Database, line: AuditLine): void {
  database.query(INSERT_AUDIT_LINE).run(...auditLineValues(line));
}

/** Newest first. */
export function readAuditLog(
  database: Database,
  filter: { organizationId?: string; limit: number },
): AuditLogRecord[] {
  const rows =
    filter.organizationId === undefined
      ? database.query(`SELECT ${COLUMNS} FROM audit_log ORDER BY seq DESC LIMIT ?1`).values(filter.limit)
      : database
          .query(`SELECT ${COLUMNS} FROM audit_log WHERE org_id = ?1 ORDER BY seq DESC LIMIT ?2`)
          .values(filter.organizationId, filter.limit);
  return (rows as Cell[][]).map(
    ([at, actor, address, requestId, action, organizationId, target, before, after]) => ({
      at: int(at),
      actor: text(actor),
      address: textOrNull(address),
      requestId: textOrNull(requestId),
      action: text(action),
      organizationId: textOrNull(organizationId),
      target: text(target),
      before: textOrNull(before),
      after: textOrNull(after),
    }),
  );
}
