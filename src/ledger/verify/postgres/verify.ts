// The audit of a PostgreSQL store, in a thread of its own beside traffic, on one instant of it (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { AuditReport } from "../../records.ts";
import type { PostgresAuditAnswer, PostgresAuditQuestion } from "./verify-worker.ts";

/** Checks every invariant. Rejects when the store cannot be read. */
export function auditPostgres(question: PostgresAuditQuestion): Promise<AuditReport> {
  const worker = new Worker(ownThread("src/ledger/verify/postgres/verify-worker.ts"));
  return new Promise<AuditReport>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<PostgresAuditAnswer>) => {
      if ("report" in data) resolve(data.report);
      else reject(new Error(data.error));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    });
    worker.addEventListener("close", () =>
      reject(new Error("the thread of the audit ended without an answer")),
    );
    worker.postMessage(question);
  }).finally(() => worker.terminate());
}
