// `statement`: an organization's month as a table, JSON, CSV or a PDF file; its sums are the ledger's.
import type { Command } from "commander";
import { csvFile } from "../src/api/csv.ts";
import type { StatementJson } from "../src/api/shapes/statement.ts";
import { statementName, statementTable } from "../src/api/statement-lines.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { report } from "./report.ts";
import { dollars, fields, table } from "./table.ts";

interface StatementOptions {
  org: string;
  month: string;
  /** True if no file name was given: the statement's own name is used. */
  pdf?: string | true;
  csv?: true;
}

export function addStatement(program: Command): void {
  program
    .command("statement")
    .description("an organization's statement of one month")
    .requiredOption("--org <org>", "the organization's id or name")
    .requiredOption("--month <month>", "like 2026-11, in UTC")
    .option("--pdf [file]", "write a PDF; without a name, statement-ORG-MONTH.pdf")
    .option("--csv", "print CSV (RFC 4180)")
    .action((options: StatementOptions, command: Command) =>
      report(command, async (context) => {
        const { org, month, pdf, csv } = options;
        if ([pdf, csv, context.options.json].filter((one) => one !== undefined && one !== false).length > 1)
          throw new WrongUsage("--pdf, --csv and --json cannot be combined.", "Choose one of them.");
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/statement", { org, month });
        if (pdf !== undefined) return { json: text, text: () => writePdf(value, pdf) };
        return { json: text, text: () => (csv === true ? printCsv(value) : describe(value)) };
      }),
    );
}

async function writePdf(statement: StatementJson, named: string | true): Promise<string> {
  const { statementPdf } = await import("../src/api/statement-pdf.ts");
  const file = named === true ? `${statementName(statement)}.pdf` : named;
  await Bun.write(file, statementPdf(statement)).catch((error: unknown) => {
    throw new Problem(`${file} cannot be written: ${String(error)}`, "Name another file: --pdf FILE.");
  });
  return `Wrote ${file}.`;
}

async function printCsv(statement: StatementJson): Promise<string> {
  let text = "";
  for await (const lines of (await csvFile(statementTable(statement))).lines) text += lines;
  return text.trimEnd();
}

function describe(of: StatementJson): string {
  const { charges, other_charges, head } = of;
  const sums = fields({
    organization: `${of.org.name} (${of.org.id})`,
    month: of.final ? of.month : `${of.month}, still running`,
    opening: dollars(of.opening_usd),
    "+ purchases": dollars(of.purchases_usd),
    "+ grants": dollars(of.grants_usd),
    "+ refunds": dollars(of.refunds_usd),
    "- charges": dollars(of.charges_usd),
    "- chargebacks": dollars(of.chargebacks_usd),
    "= closing": dollars(of.closing_usd),
    available: dollars(of.available_usd),
    held: dollars(of.held_usd),
    debt: dollars(of.debt_usd),
    entries: of.entries.first === null ? "none" : `${of.entries.first} to ${of.entries.last}`,
    "chain's head": head === null ? null : `entry ${head.n}, ${head.hash}`,
  });
  const by = table(charges, {
    MODEL: (row) => row.model,
    KEY: (row) => row.key.name,
    ID: (row) => row.key.id,
    REQUESTS: (row) => row.requests,
    CHARGE: (row) => dollars(row.charge_usd),
  });
  const came = table(of.movements, {
    AT: (row) => row.at,
    KIND: (row) => row.kind,
    REFERENCE: (row) => `${row.source}: ${row.reference}`,
    REQUEST: (row) => row.request,
    AMOUNT: (row) => dollars(row.amount_usd),
  });
  const more = other_charges === null ? [] : [`others: ${dollars(other_charges.amount_usd)}`];
  return [
    sums,
    ...(of.movements.length === 0 ? ["No credits were added or returned."] : [came]),
    ...(charges.length === 0 ? ["No request was charged."] : [by]),
    ...more,
  ].join("\n\n");
}
