// The audit of the ledger's invariants (money.md §5), while traffic runs.
import type { Operator } from "../contract/operator.ts";
import type { Ledger } from "../ledger/ledger.ts";

export const audit = (ledger: Pick<Ledger, "audit">): Operator["ledger"] => ({
  async audit() {
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
