// `ledger audit`, as operators know it: the ledger's invariants (money.md §5) are verified while traffic runs, and whoever's books
// are found broken, or whole again, is stopped or goes on before it is told.
import type { AuditReportJson } from "../api/shapes/records.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { brokenBooks } from "../ledger/stops.ts";
import { printStopped, printViolations } from "./stopped-organizations.ts";

export const ledgerVerification = (ledger: Pick<Ledger, "verify" | "checkBooks" | "read">) => ({
  async verify(): Promise<AuditReportJson> {
    const report = await ledger.verify();
    await ledger.checkBooks(brokenBooks(report.violations)).catch((error: unknown) => {
      if (!isOverloaded(error)) throw error; // a store that takes no writes can be read all the same
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
