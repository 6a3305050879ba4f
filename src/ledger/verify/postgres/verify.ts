// Verifies a PostgreSQL store in a separate thread alongside traffic, at one instant (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { VerificationReport } from "../../records.ts";
import type { BooksReport } from "../books.ts";
import { askThread } from "../verify-thread.ts";
import type { PostgresBooks, PostgresVerification } from "./verify-worker.ts";

const ask = <Report>(question: PostgresVerification | PostgresBooks, ending?: AbortSignal): Promise<Report> =>
  askThread(ownThread("src/ledger/verify/postgres/verify-worker.ts"), question, ending);

/** Checks every invariant. Rejects if the store cannot be read. */
export const verifyPostgres = (question: PostgresVerification): Promise<VerificationReport> => ask(question);

/** Checks the books alone, from where the previous check ended. Rejects as the whole verification does. */
export const booksOfPostgres = (question: PostgresBooks, ending: AbortSignal): Promise<BooksReport> =>
  ask(question, ending);
