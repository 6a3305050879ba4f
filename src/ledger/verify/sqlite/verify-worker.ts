// The thread of one verification: opens the database read-only, takes a snapshot, checks, answers
// once. A build into one file must name this file as a further entry point.
import type { Database } from "bun:sqlite";
import { messageOf } from "../../../domain/error-message.ts";
import { openReader } from "../../../store/sqlite-connection.ts";
import { acceptedFindings } from "../accepted.ts";
import { type BooksQuestion, checkBooks } from "../books.ts";
import { Findings } from "../findings.ts";
import type { ThreadAnswer } from "../verify-thread.ts";
import { checkChains } from "./chain.ts";
import { checkReleases } from "../releases.ts";
import { runOnSqlite } from "../../../store/sqlite-sql.ts";
import { checkRequests } from "./requests.ts";
import { checkSums } from "../sums.ts";
import { SQLITE_SUMS } from "./sums.ts";
import type { VerificationReport } from "../../records.ts";

export interface SqliteVerification {
  dataDirectory: string;
  dataKey: Uint8Array;
  nowMs: number;
}

/** The same for the books alone (`books.ts`). */
export interface SqliteBooks {
  dataDirectory: string;
  books: BooksQuestion;
}

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<SqliteVerification | SqliteBooks>) => {
  self.postMessage(answer(data));
});

function answer(question: SqliteVerification | SqliteBooks): ThreadAnswer {
  try {
    const database = openReader(question.dataDirectory);
    try {
      database.run("BEGIN"); // the first read fixes the snapshot
      return {
        report:
          "books" in question
            ? runOnSqlite(database, checkBooks(question.books))
            : wholeOf(database, question),
      };
    } finally {
      database.close();
    }
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function wholeOf(database: Database, { dataKey, nowMs }: SqliteVerification): VerificationReport {
  const findings = new Findings(runOnSqlite(database, acceptedFindings()));
  checkChains(database, findings);
  checkRequests(database, findings, { dataKey, nowMs });
  runOnSqlite(database, checkReleases(findings));
  runOnSqlite(database, checkSums(SQLITE_SUMS, findings, nowMs));
  return findings.report();
}
