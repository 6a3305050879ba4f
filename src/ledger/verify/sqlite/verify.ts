// The audit of an SQLite store: one snapshot, read on a connection of its own in a thread of its own, so that it runs
// beside traffic and sees one instant (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { AuditReport } from "../../records.ts";
import { askThread } from "../audit-thread.ts";
import type { AuditQuestion } from "./verify-worker.ts";

/** Checks every invariant. Rejects when the store cannot be read. */
export const auditStore = (question: AuditQuestion): Promise<AuditReport> =>
  askThread(ownThread("src/ledger/verify/sqlite/verify-worker.ts"), question);
