// The contents of a line of the audit log: who changed what, from which value to which (hardening.md S40).
import type { Actor } from "./actor.ts";

/** One line before it is written; `auditLine` gives it an id and a time. */
export interface AuditNote {
  actor: Actor;
  /** `key.create`, `credits.purchase` … */
  action: string;
  /** Null if the change belongs to no organization. */
  organizationId: string | null;
  target: string;
  /** The values before the change; absent if there were none. Money as decimal text, or as whole nano-USD. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}
