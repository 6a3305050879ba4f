// The verification of an SQLite store: one snapshot, read on a connection of its own in a thread of its own, so that it runs
// beside traffic and sees one instant (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { VerificationReport } from "../../records.ts";
import { askThread } from "../verify-thread.ts";
import type { SqliteVerification } from "./verify-worker.ts";

/** Checks every invariant. Rejects when the store cannot be read. */
export const verifySqlite = (question: SqliteVerification): Promise<VerificationReport> =>
  askThread(ownThread("src/ledger/verify/sqlite/verify-worker.ts"), question);
