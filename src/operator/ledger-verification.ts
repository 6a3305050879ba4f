// `ledger audit`, as operators know it: the ledger's invariants (money.md §5) are verified while traffic runs.
import type { AuditReportJson } from "../api/shapes/records.ts";
import type { Ledger } from "../ledger/ledger.ts";

export const ledgerVerification = (ledger: Pick<Ledger, "verify">) => ({
  async verify(): Promise<AuditReportJson> {
    const report = await ledger.verify();
    return {
      ok: report.ok,
      checked: report.checked,
      took_ms: report.tookMs,
      violations: report.violations.map((violation) => ({
        invariant: violation.invariant,
        org: violation.organizationId,
        request_id: violation.requestId,
        expected: violation.expected,
        found: violation.found,
      })),
    };
  },
});
