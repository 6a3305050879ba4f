// The audit of the ledger's invariants (money.md §5), while traffic runs.
import type { AuditReportJson } from "../api/shapes/records.ts";
import type { Ledger } from "../ledger/ledger.ts";

export const audit = (ledger: Pick<Ledger, "audit">) => ({
  async audit(): Promise<AuditReportJson> {
    const report = await ledger.audit();
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
