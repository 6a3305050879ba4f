// The thread that reads for people: a separate read-only connection, one statement at a time, so that a page over a
// year of requests never delays a caller's answer. A build into one file must name this file as a further entry point.
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { SqlRow, SqlValue } from "./sql.ts";
import { openReader } from "./sqlite-connection.ts";
import { messageOf } from "../domain/error-message.ts";

/** A question to the reading thread; its answer has the same `id`. */
export interface ReadQuestion {
  id: number;
  dataDirectory: string;
  text: string;
  values: readonly SqlValue[];
}

export type ReadAnswer = { id: number } & ({ rows: SqlRow[] } | { error: string });

declare const self: Worker;

let reader: Database | null = null;

self.addEventListener("message", ({ data }: MessageEvent<ReadQuestion>) => {
  self.postMessage(answer(data));
});

function answer({ id, dataDirectory, text, values }: ReadQuestion): ReadAnswer {
  try {
    reader ??= openReader(dataDirectory);
    return { id, rows: reader.query<SqlRow, SQLQueryBindings[]>(text).all(...values) };
  } catch (error) {
    // A connection that failed is not trusted; the next question opens another one.
    reader?.close();
    reader = null;
    return { id, error: messageOf(error) };
  }
}
