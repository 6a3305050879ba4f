// One verification of the ledger in a thread of its own, which ends with it: it reads the whole store, and traffic goes on beside it.
import type { VerificationReport } from "../records.ts";

/** What the thread says, once. */
export type ThreadAnswer = { report: VerificationReport } | { error: string };

/** Rejects when the store cannot be read, and when the thread ends without an answer. */
export function askThread(thread: URL, question: object): Promise<VerificationReport> {
  const worker = new Worker(thread);
  return new Promise<VerificationReport>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadAnswer>) => {
      if ("report" in data) resolve(data.report);
      else reject(new Error(data.error));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    });
    worker.addEventListener("close", () =>
      reject(new Error("the thread of the verification ended without an answer")),
    );
    worker.postMessage(question);
  }).finally(() => worker.terminate());
}
