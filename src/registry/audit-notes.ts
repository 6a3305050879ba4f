// Writes what people did into the audit log: the single list of who changed what.
import type { AuditNote } from "../domain/audit-note.ts";
import type { Clock } from "../lib/clock.ts";
import { auditLine } from "../store/audit-log.ts";
import type { Sql } from "../store/sql.ts";

/** For changes that are in no table of the registry; each line is a transaction of its own. */
export const auditNotes = (sql: Sql, clock: Clock): { note: (note: AuditNote) => Promise<void> } => ({
  async note(note) {
    await sql.together([auditLine(note, clock.nowMs())]);
  },
});
