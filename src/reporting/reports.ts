// The ports of this room's readers, built once: each endpoint passes them to the reader it calls. Nothing in
// them changes anything.
import type { Ledger } from "../ledger/ledger.ts";
import type { People } from "../people/people.ts";
import type { Publisher } from "../releases/publish.ts";
import type { AttentionPorts } from "./attention.ts";
import type { Sql } from "../store/sql.ts";
import { LabelBook } from "./labels.ts";
import type { LedgerReportPorts } from "./ledger-report.ts";
import type { EvidencePorts } from "./evidence.ts";
import type { SupportPorts } from "./support-bundle.ts";

interface ReportsPorts
  extends Omit<SupportPorts, "labels" | "listedRoutes" | "ledger" | "people" | "standings">,
    Pick<EvidencePorts, "receipts">,
    Omit<AttentionPorts, "ledger">,
    Pick<LedgerReportPorts, "operator"> {
  ledger: Pick<Ledger, "balance" | "pulse" | "read" | "ready">;
  people: Pick<People, "memberCounts" | "persons">;
  publisher: Pick<Publisher, "publicKeys" | "standings" | "listed" | "lost" | "trustedKeys" | "verify">;
  /** So that readers see a refusal that they have just received. */
  flushRequestLog(): Promise<void>;
}

export type Reports = ReturnType<typeof createReports>;

/** The ports of every reader, with their shared cache of labels. */
export const createReports = (ports: ReportsPorts) => ({
  ...ports,
  labels: new LabelBook(ports.sql, ports.ledger),
  standings: () => ports.publisher.standings(),
  listedRoutes: () => ports.publisher.listed(),
});

/** The same readers, reading through `sql`: as somebody who takes turns there. */
export const reportsThrough = (reports: Reports, sql: Sql): Reports => ({
  ...reports,
  sql,
  labels: reports.labels.through(sql),
});
