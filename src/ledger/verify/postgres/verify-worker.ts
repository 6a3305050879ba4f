// The thread of one audit of a PostgreSQL store: a session of its own, read-only, in one snapshot; answers once. A build
// to one file must name this file as a further entry point.
import { messageOf } from "../../../lib/message.ts";
import { connectReader } from "../../../store/postgres.ts";
import type { AuditAnswer } from "../audit-thread.ts";
import { Findings } from "../findings.ts";
import { auditReleases } from "../releases.ts";
import { runOnPostgres } from "../../../store/postgres-sql.ts";
import { auditChains, auditRequests } from "./rows.ts";
import { auditSums } from "./sums.ts";

export interface PostgresAuditQuestion {
  url: string;
  dataKey: Uint8Array;
  nowMs: number;
}

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<PostgresAuditQuestion>) => {
  void answer(data).then((said) => self.postMessage(said)); // `answer` never rejects
});

async function answer({ url, dataKey, nowMs }: PostgresAuditQuestion): Promise<AuditAnswer> {
  try {
    const client = await connectReader(url);
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      const findings = new Findings();
      await auditChains(client, findings);
      await auditRequests(client, findings, { dataKey, nowMs });
      await runOnPostgres(client, auditReleases(findings));
      await auditSums(client, findings, nowMs);
      return { report: findings.report() };
    } finally {
      await client.end();
    }
  } catch (error) {
    return { error: messageOf(error) };
  }
}
