// The thread of one verification: opens the database read-only, takes a snapshot, checks, answers once. A build to one file must
// name this file as a further entry point.
import { messageOf } from "../../../domain/error-message.ts";
import { openReader } from "../../../store/sqlite-connection.ts";
import { Findings } from "../findings.ts";
import type { ThreadAnswer } from "../verify-thread.ts";
import { checkChains } from "./chain.ts";
import { checkReleases } from "../releases.ts";
import { runOnSqlite } from "../../../store/sqlite-sql.ts";
import { checkRequests } from "./requests.ts";
import { checkSums } from "../sums.ts";
import { SQLITE_SUMS } from "./sums.ts";

export interface SqliteVerification {
  dataDirectory: string;
  dataKey: Uint8Array;
  nowMs: number;
}

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<SqliteVerification>) => {
  self.postMessage(answer(data));
});

function answer({ dataDirectory, dataKey, nowMs }: SqliteVerification): ThreadAnswer {
  try {
    const database = openReader(dataDirectory);
    try {
      database.run("BEGIN"); // the first read fixes the snapshot
      const findings = new Findings();
      checkChains(database, findings);
      checkRequests(database, findings, { dataKey, nowMs });
      runOnSqlite(database, checkReleases(findings));
      runOnSqlite(database, checkSums(SQLITE_SUMS, findings, nowMs));
      return { report: findings.report() };
    } finally {
      database.close();
    }
  } catch (error) {
    return { error: messageOf(error) };
  }
}
