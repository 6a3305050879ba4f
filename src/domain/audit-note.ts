// What a line of the audit log tells: who changed what, from which value to which (hardening.md S40).
import type { Actor } from "./actor.ts";

/** One line before it is written; `auditLine` gives it an id and a time. */
export interface AuditNote {
  actor: Actor;
  /** `key.create`, `credits.purchase` … */
  action: string;
  /** Null for what is of no organization. */
  organizationId: string | null;
  target: string;
  /** What was changed, with its value then; absent where there was none. Money as decimal text, or as whole nano-USD. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}
