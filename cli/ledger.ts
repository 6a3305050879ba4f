// `ledger audit`: checks every invariant of the ledger while traffic runs; exit code 1 when one is broken.
import type { Command } from "commander";
import type { AuditReportJson } from "../src/contract/admin.ts";
import { report, say } from "./report.ts";
import { table } from "./table.ts";

export function addLedger(program: Command): void {
  program
    .command("ledger")
    .description("the ledger of all money")
    .command("audit")
    .description("check every invariant while traffic runs")
    .action((_: object, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).get<AuditReportJson>("/ledger/audit");
        if (!value.ok)
          say("Paid dispatch should stop for these organizations. Keep the store as it is and report it.");
        return { json: text, text: describe(value), exitCode: value.ok ? 0 : 1 };
      }),
    );
}

function describe({ ok, checked, violations }: AuditReportJson): string {
  const names = Object.keys(checked);
  const total = Object.values(checked).reduce((sum, rows) => sum + rows, 0);
  if (ok) return `Every invariant holds: ${names.length} checked over ${total} rows.`;
  return table(violations, {
    INVARIANT: (row) => row.invariant,
    ORG: (row) => row.org,
    REQUEST: (row) => row.request_id,
    EXPECTED: (row) => row.expected,
    FOUND: (row) => row.found,
  });
}
