// One line of the append-only audit log for a change outside the ledger (hardening.md S40): who, what, before and after;
// never a secret.
import type { Sql } from "../store/sql.ts";

export interface Change {
  actor: string;
  action: string;
  organizationId: string | null;
  target: string;
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}

export type NoteChange = (change: Change) => Promise<void>;

export const noteInLog =
  (sql: Sql, nowMs: () => number): NoteChange =>
  async ({ actor, action, organizationId, target, before, after }) => {
    await sql.rows(
      `INSERT INTO audit_log (at, actor, action, org_id, target, value_before, value_after)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
      nowMs(),
      actor,
      action,
      organizationId,
      target,
      printed(before),
      printed(after),
    );
  };

const printed = (value: Record<string, unknown> | null | undefined): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);
