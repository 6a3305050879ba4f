// Verifies an SQLite store: one snapshot, read on a separate connection in a separate thread, so that
// it runs alongside traffic and sees one instant (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { VerificationReport } from "../../records.ts";
import type { BooksReport } from "../books.ts";
import { askThread } from "../verify-thread.ts";
import type { SqliteBooks, SqliteVerification } from "./verify-worker.ts";

const ask = <Report>(question: SqliteVerification | SqliteBooks, ending?: AbortSignal): Promise<Report> =>
  askThread(ownThread("src/ledger/verify/sqlite/verify-worker.ts"), question, ending);

/** Checks every invariant. Rejects if the store cannot be read. */
export const verifySqlite = (question: SqliteVerification): Promise<VerificationReport> => ask(question);

/** Checks the books alone, from where the previous check ended. Rejects as the whole verification does. */
export const booksOfSqlite = (question: SqliteBooks, ending: AbortSignal): Promise<BooksReport> =>
  ask(question, ending);
