// What the readers of this room take, put together once: endpoints hand it to whichever of them answers. What changes
// anything is not in it.
import type { Ledger } from "../ledger/ledger.ts";
import type { People } from "../people/people.ts";
import type { Publisher } from "../releases/publish.ts";
import type { AttentionPorts } from "./attention.ts";
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
  /** So that a reader sees the refusal that they just met. */
  flushRequestLog(): Promise<void>;
}

export type Reports = ReturnType<typeof createReports>;

/** What every reader stands on, with the book of labels that they share. */
export const createReports = (ports: ReportsPorts) => ({
  ...ports,
  labels: new LabelBook(ports.sql, ports.ledger),
  standings: () => ports.publisher.standings(),
  listedRoutes: () => ports.publisher.listed(),
});
