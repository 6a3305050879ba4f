// Runs verifications of the ledger in separate threads: each reads the whole store, or the books alone, alongside
// traffic. A thread answers one question at a time. It waits a moment for the next one, because starting it takes more
// work than a small store's verification, and then ends, so that no memory stays with it.
import type { VerificationReport } from "../records.ts";
import type { BooksReport } from "./books.ts";

/** The thread's only message to a question. */
export type ThreadAnswer<Report = VerificationReport | BooksReport> = { report: Report } | { error: string };

/** How long a thread waits for another question. */
const IDLE_MS = 2_000;

/** Those that wait for a question, by their file, each with what ends it. */
const idle = new Map<string, Map<Worker, ReturnType<typeof setTimeout>>>();

/** Rejects if the store cannot be read, if the thread ends without an answer, and if it is told to end. */
export function askThread<Report>(thread: URL, question: object, ending?: AbortSignal): Promise<Report> {
  const worker = takeIdle(thread) ?? start(thread);
  const over = new AbortController();
  let isGood = false;
  return new Promise<Report>((resolve, reject) => {
    const { signal } = over;
    ending?.addEventListener("abort", () => reject(new Error("the gateway is stopping")), { signal });
    const answered = ({ data }: MessageEvent<ThreadAnswer<Report>>): void => {
      isGood = "report" in data;
      if ("report" in data) resolve(data.report);
      else reject(new Error(data.error));
    };
    const failed = (event: ErrorEvent): void => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    const closed = (): void => reject(new Error("the verification thread ended without a result"));
    worker.addEventListener("message", answered, { signal });
    worker.addEventListener("error", failed, { signal });
    worker.addEventListener("close", closed, { signal });
    worker.postMessage(question);
  }).finally(() => {
    over.abort();
    if (isGood) keepIdle(thread, worker);
    else worker.terminate();
  });
}

function start(thread: URL): Worker {
  const worker = new Worker(thread);
  // One that ends while it waits gets no question any more.
  worker.addEventListener("close", () => idle.get(thread.href)?.delete(worker));
  return worker;
}

function takeIdle({ href }: URL): Worker | null {
  const [[worker, timer] = []] = idle.get(href) ?? [];
  if (worker === undefined) return null;
  clearTimeout(timer);
  idle.get(href)?.delete(worker);
  worker.ref();
  return worker;
}

/** Neither the thread nor its timer keeps the process from ending. */
function keepIdle({ href }: URL, worker: Worker): void {
  const those = idle.get(href) ?? new Map<Worker, ReturnType<typeof setTimeout>>();
  idle.set(href, those);
  const timer = setTimeout(() => {
    those.delete(worker);
    worker.terminate();
  }, IDLE_MS);
  timer.unref();
  worker.unref();
  those.set(worker, timer);
}
