// Runs one verification of the ledger in a separate thread that ends with it: it reads the whole
// store, or the books alone, alongside traffic.
import type { VerificationReport } from "../records.ts";
import type { BooksReport } from "./books.ts";

/** The thread's only message. */
export type ThreadAnswer<Report = VerificationReport | BooksReport> = { report: Report } | { error: string };

/** Rejects if the store cannot be read, if the thread ends without an answer, and if it is told to end. */
export function askThread<Report>(thread: URL, question: object, ending?: AbortSignal): Promise<Report> {
  const worker = new Worker(thread);
  let ended: () => void = () => {};
  return new Promise<Report>((resolve, reject) => {
    ending?.addEventListener("abort", (ended = () => reject(new Error("the gateway is stopping"))));
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadAnswer<Report>>) => {
      if ("report" in data) resolve(data.report);
      else reject(new Error(data.error));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    });
    worker.addEventListener("close", () =>
      reject(new Error("the verification thread ended without a result")),
    );
    worker.postMessage(question);
  }).finally(() => {
    ending?.removeEventListener("abort", ended);
    worker.terminate();
  });
}
