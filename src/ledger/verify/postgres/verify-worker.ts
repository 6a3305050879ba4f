// The thread of one verification of a PostgreSQL store: a session of its own, read-only, in one snapshot; answers once. A build
// to one file must name this file as a further entry point.
import { messageOf } from "../../../domain/error-message.ts";
import { connectReader } from "../../../store/postgres.ts";
import type { ThreadAnswer } from "../verify-thread.ts";
import { Findings } from "../findings.ts";
import { checkReleases } from "../releases.ts";
import { runOnPostgres } from "../../../store/postgres-sql.ts";
import { checkChains, checkRequests } from "./rows.ts";
import { checkSums } from "../sums.ts";
import { POSTGRES_SUMS } from "./sums.ts";

export interface PostgresVerification {
  url: string;
  dataKey: Uint8Array;
  nowMs: number;
}

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<PostgresVerification>) => {
  void answer(data).then((said) => self.postMessage(said)); // `answer` never rejects
});

async function answer({ url, dataKey, nowMs }: PostgresVerification): Promise<ThreadAnswer> {
  try {
    const client = await connectReader(url);
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      const findings = new Findings();
      await checkChains(client, findings);
      await checkRequests(client, findings, { dataKey, nowMs });
      await runOnPostgres(client, checkReleases(findings));
      await runOnPostgres(client, checkSums(POSTGRES_SUMS, findings, nowMs));
      return { report: findings.report() };
    } finally {
      await client.end();
    }
  } catch (error) {
    return { error: messageOf(error) };
  }
}
