// The thread of one audit: opens the database read-only, takes a snapshot, checks, answers once. A build to one file must
// name this file as a further entry point.
import { messageOf } from "../../../lib/message.ts";
import { openReader } from "../../../store/sqlite-connection.ts";
import { Findings } from "../findings.ts";
import type { AuditAnswer } from "../audit-thread.ts";
import { auditChains } from "./chain.ts";
import { auditReleases } from "../releases.ts";
import { runOnSqlite } from "../../../store/sqlite-sql.ts";
import { auditRequests } from "./requests.ts";
import { auditSums } from "./sums.ts";

export interface AuditQuestion {
  dataDirectory: string;
  dataKey: Uint8Array;
  nowMs: number;
}

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<AuditQuestion>) => {
  self.postMessage(answer(data));
});

function answer({ dataDirectory, dataKey, nowMs }: AuditQuestion): AuditAnswer {
  try {
    const database = openReader(dataDirectory);
    try {
      database.run("BEGIN"); // the first read fixes the snapshot
      const findings = new Findings();
      auditChains(database, findings);
      auditRequests(database, findings, { dataKey, nowMs });
      runOnSqlite(database, auditReleases(findings));
      auditSums(database, findings, nowMs);
      return { report: findings.report() };
    } finally {
      database.close();
    }
  } catch (error) {
    return { error: messageOf(error) };
  }
}
