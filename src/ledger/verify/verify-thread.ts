// One verification of the ledger in a thread of its own, which ends with it: it reads the whole store, or the books alone, and traffic
// goes on beside it.
import type { VerificationReport } from "../records.ts";
import type { BooksReport } from "./books.ts";

/** What the thread says, once. */
export type ThreadAnswer<Report = VerificationReport | BooksReport> = { report: Report } | { error: string };

/** Rejects when the store cannot be read, and when the thread ends without an answer. */
export function askThread<Report>(thread: URL, question: object): Promise<Report> {
  const worker = new Worker(thread);
  return new Promise<Report>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadAnswer<Report>>) => {
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
