// `ledger audit` for operators: verifies the ledger's invariants (money.md §5) while traffic runs. An
// organization whose books are found broken is stopped, and one found whole again goes on, before the report
// is returned.
import type { AuditReportJson } from "../api/shapes/records.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { brokenBooks } from "../ledger/stops.ts";
import { printStopped, printViolations } from "./stopped-organizations.ts";

export const ledgerVerification = (ledger: Pick<Ledger, "verify" | "checkBooks" | "read">) => ({
  async verify(): Promise<AuditReportJson> {
    const report = await ledger.verify();
    await ledger.checkBooks(brokenBooks(report.violations)).catch((error: unknown) => {
      if (!isOverloaded(error)) throw error; // a store that accepts no writes can still be read
    });
    return {
      ok: report.ok,
      checked: report.checked,
      took_ms: report.tookMs,
      violations: printViolations(report.violations),
      accepted: printViolations(report.accepted),
      stopped: await printStopped(ledger),
    };
  },
});
