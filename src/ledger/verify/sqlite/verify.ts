// The audit of an SQLite store: one snapshot, read on a connection of its own in a thread of its own, so that it runs
// beside traffic and sees one instant (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { AuditReport } from "../../records.ts";
import type { AuditAnswer, AuditQuestion } from "./verify-worker.ts";

/** Checks every invariant. Rejects when the store cannot be read. */
export function auditStore(question: AuditQuestion): Promise<AuditReport> {
  const worker = new Worker(ownThread("src/ledger/verify/sqlite/verify-worker.ts"));
  return new Promise<AuditReport>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<AuditAnswer>) => {
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
