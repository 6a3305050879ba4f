// The SQL port with reads on a separate thread: SQLite answers synchronously, and on the gateway's thread a long read
// would stop every request. Changes stay with the one writer. A read sees everything committed before it was requested.
import { ownThread } from "../lib/program.ts";
import { Register } from "../lib/roster.ts";
import type { ReadingApart, Sql, SqlRow, SqlValue } from "./sql.ts";
import type { ReadAnswer, ReadQuestion } from "./sqlite-reading-worker.ts";

interface Waiting {
  resolve: (rows: SqlRow[]) => void;
  reject: (error: Error) => void;
}

const READS = /^\s*SELECT\b/i;

/** The thread starts with the first read and is restarted after it dies. */
export function readingApart(sql: Sql, dataDirectory: string): ReadingApart {
  const waiting = new Register<number, Waiting>();
  let worker: Worker | null = null;
  let asked = 0;
  const end = (reason: string): void => {
    worker?.terminate();
    worker = null;
    for (const { reject } of waiting.takeAll()) reject(new Error(reason));
  };
  const begin = (): Worker => {
    const begun = new Worker(ownThread("src/store/sqlite-reading-worker.ts"));
    begun.addEventListener("message", ({ data }: MessageEvent<ReadAnswer>) => {
      const answered = waiting.take(data.id);
      if ("rows" in data) answered?.resolve(data.rows);
      else answered?.reject(new Error(data.error));
    });
    begun.addEventListener("error", (event) => end(`the reading thread failed: ${event.message}`));
    return begun;
  };
  const read = (text: string, values: readonly SqlValue[]): Promise<SqlRow[]> =>
    new Promise((resolve, reject) => {
      worker ??= begin();
      const question: ReadQuestion = { id: asked++, dataDirectory, text, values };
      waiting.set(question.id, { resolve, reject });
      worker.postMessage(question);
    });
  return {
    dialect: sql.dialect,
    abreast: 1,
    rows: (text, ...values) => (READS.test(text) ? read(text, values) : sql.rows(text, ...values)),
    together: (statements) => sql.together(statements),
    ifChanged: (first, then) => sql.ifChanged(first, then),
    stop: async () => end("the gateway is stopping"),
  };
}
