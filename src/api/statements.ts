// The statement of a month: as a document, for a spreadsheet, to print.
import { statementOf } from "../reporting/statement.ts";
import { csvFile } from "./csv.ts";
import { endpoint } from "./endpoint.ts";
import * as shapes from "./shapes/statement.ts";
import { statementName, statementTable } from "./statement-lines.ts";

export const statementsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/statement",
    who: "billing.see",
    input: shapes.statementQuery,
    output: shapes.statement,
    run: ({ input: { org, month } }, { reports }) => statementOf(reports, org, month),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/statement.csv",
    who: "billing.see",
    input: shapes.statementQuery,
    output: "csv",
    run: async ({ input: { org, month } }, { reports }) =>
      csvFile(statementTable(await statementOf(reports, org, month))),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/statement.pdf",
    who: "billing.see",
    input: shapes.statementQuery,
    output: "pdf",
    run: async ({ input: { org, month } }, { reports }) => {
      const [made, { statementPdf }] = await Promise.all([
        statementOf(reports, org, month),
        import("./statement-pdf.ts"),
      ]);
      return { name: statementName(made), bytes: statementPdf(made) };
    },
  }),
  endpoint({
    target: "GET /admin/v1/statement",
    who: "billing.see",
    summary: "Show an organization's statement of a month; its sums are the ledger's",
    input: shapes.statementQuery,
    output: shapes.statement,
    run: ({ input: { org, month } }, { operator }) => operator.statements.show(org, month),
  }),
] as const;
