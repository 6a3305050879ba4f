// The audit of a PostgreSQL store, in a thread of its own beside traffic, on one instant of it (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { AuditReport } from "../../records.ts";
import { askThread } from "../audit-thread.ts";
import type { PostgresAuditQuestion } from "./verify-worker.ts";

/** Checks every invariant. Rejects when the store cannot be read. */
export const auditPostgres = (question: PostgresAuditQuestion): Promise<AuditReport> =>
  askThread(ownThread("src/ledger/verify/postgres/verify-worker.ts"), question);
