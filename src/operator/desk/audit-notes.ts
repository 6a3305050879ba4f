// What people did, into the ledger's audit log: the one list of who changed what.
import type { AuditNote, Desk } from "../../contract/desk.ts";
import { changedMeanwhile } from "../../contract/version.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Sql, type Statement, statement } from "../../store/sql.ts";

const printed = (value: Record<string, unknown> | null | undefined): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

/** The line as a statement, to commit together with the change that it tells of. */
export const auditStatement = (note: AuditNote, atMs: number): Statement =>
  statement(
    `INSERT INTO audit_log (at, actor, address, request_id, action, org_id, target, value_before, value_after)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    atMs,
    note.actor.id,
    note.actor.address,
    note.actor.requestId,
    note.action,
    note.organizationId,
    note.target,
    printed(note.before),
    printed(note.after),
  );

export const auditNotes = (sql: Sql, clock: Clock): Pick<Desk, "note" | "renameOrganization"> => ({
  async note(note) {
    await sql.together([auditStatement(note, clock.nowMs())]);
  },
  async renameOrganization(organizationId, { from, to }, actor) {
    const note = {
      actor,
      action: "organization.settings",
      organizationId,
      target: organizationId,
      before: { name: from },
      after: { name: to },
    };
    const renamed = await sql.ifChanged(
      statement(
        "UPDATE organization SET name = ?3 WHERE org_id = ?1 AND name = ?2",
        organizationId,
        from,
        to,
      ),
      [auditStatement(note, clock.nowMs())],
    );
    if (!renamed) throw changedMeanwhile();
  },
});
