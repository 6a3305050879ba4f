// The append-only audit log: who changed what (hardening.md S40). Every change appends its line in its own
// transaction, so that neither exists without the other; these are the only statements that write the table.
import type { AuditNote } from "../domain/audit-note.ts";
import { type Query, type Statement, statement } from "./sql.ts";

const COLUMNS = "at, actor, address, request_id, action, org_id, target, value_before, value_after";
const VALUES = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9";
/** Increases with time: microseconds in the positions where version 7 UUIDs have them, then random digits. */
const ID = `(SELECT 'aud_' || lpad(to_hex(us / 1000), 12, '0') || '7' || lpad(to_hex(us % 1000 * 4), 3, '0')
    || substr(replace(gen_random_uuid()::text, '-', ''), 17)
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS now)`;
const TABLE = "audit_log";
/** SQLite numbers the lines itself. */
const insertInto = (table: string) => ({
  sqlite: `INSERT INTO ${table} (${COLUMNS}) VALUES (${VALUES})`,
  postgresql: `INSERT INTO ${table} (${COLUMNS}, id) VALUES (${VALUES}, ${ID})`,
});
const INSERT = insertInto(TABLE);

/** Returns the line as a statement of its change's transaction. `schema`: if not on the search path, quoted for SQL. */
export const auditLine = (note: AuditNote, atMs: number, schema?: string): Statement =>
  statement(
    schema === undefined ? INSERT : insertInto(`${schema}.${TABLE}`),
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

/** Appends the line inside the transaction of the change that it records, so that neither exists without the other. */
export function* appendAuditLine(note: AuditNote, atMs: number): Query<void> {
  yield auditLine(note, atMs);
}

/** JSON, with money as text. */
const printed = (value: AuditNote["before"]): string | null =>
  value === null || value === undefined
    ? null
    : JSON.stringify(value, (_, member: unknown) =>
        typeof member === "bigint" ? member.toString() : member,
      );
