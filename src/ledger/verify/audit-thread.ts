// One audit in a thread of its own, which ends with it: it reads the whole store, and traffic goes on beside it.
import type { AuditReport } from "../records.ts";

/** What the thread says, once. */
export type AuditAnswer = { report: AuditReport } | { error: string };

/** Rejects when the store cannot be read, and when the thread ends without an answer. */
export function askThread(thread: URL, question: object): Promise<AuditReport> {
  const worker = new Worker(thread);
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
