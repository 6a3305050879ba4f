// The thread of one verification of a PostgreSQL store: a separate, read-only session in one snapshot;
// answers once. A build into one file must name this file as a further entry point.
import type { ClientBase } from "pg";
import { messageOf } from "../../../domain/error-message.ts";
import { connectReader } from "../../../store/postgres.ts";
import type { ThreadAnswer } from "../verify-thread.ts";
import { acceptedFindings } from "../accepted.ts";
import { type BooksQuestion, checkBooks } from "../books.ts";
import { Findings } from "../findings.ts";
import { checkReleases } from "../releases.ts";
import { runOnPostgres } from "../../../store/postgres-sql.ts";
import { checkChains, checkRequests } from "./rows.ts";
import { checkSums } from "../sums.ts";
import { POSTGRES_SUMS } from "./sums.ts";
import type { VerificationReport } from "../../records.ts";

export interface PostgresVerification {
  url: string;
  dataKey: Uint8Array;
  nowMs: number;
}

/** The same for the books alone (`books.ts`). */
export interface PostgresBooks {
  url: string;
  books: BooksQuestion;
}

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<PostgresVerification | PostgresBooks>) => {
  void answer(data).then((said) => self.postMessage(said)); // `answer` never rejects
});

async function answer(question: PostgresVerification | PostgresBooks): Promise<ThreadAnswer> {
  try {
    const client = await connectReader(question.url);
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return {
        report:
          "books" in question
            ? await runOnPostgres(client, checkBooks(question.books))
            : await wholeOf(client, question),
      };
    } finally {
      await client.end();
    }
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function wholeOf(
  client: ClientBase,
  { dataKey, nowMs }: PostgresVerification,
): Promise<VerificationReport> {
  const findings = new Findings(await runOnPostgres(client, acceptedFindings()));
  await checkChains(client, findings);
  await checkRequests(client, findings, { dataKey, nowMs });
  await runOnPostgres(client, checkReleases(findings));
  await runOnPostgres(client, checkSums(POSTGRES_SUMS, findings, nowMs));
  return findings.report();
}
