// The verification of a PostgreSQL store, in a thread of its own beside traffic, on one instant of it (money.md §5).
import { ownThread } from "../../../lib/program.ts";
import type { VerificationReport } from "../../records.ts";
import { askThread } from "../verify-thread.ts";
import type { PostgresVerification } from "./verify-worker.ts";

/** Checks every invariant. Rejects when the store cannot be read. */
export const verifyPostgres = (question: PostgresVerification): Promise<VerificationReport> =>
  askThread(ownThread("src/ledger/verify/postgres/verify-worker.ts"), question);
