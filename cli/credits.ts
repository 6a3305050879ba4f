// `credits grant`, `credits refund`, `credits show`, `credits list`.
import type { Command } from "commander";
import type { BalanceJson } from "../src/api/shapes/records.ts";
import type { CreditJson } from "../src/api/shapes/credits.ts";
import { PAGE_ROWS_MAX } from "../src/domain/page-rows.ts";
import { oneOf } from "./choice.ts";
import { csv } from "./csv.ts";
import type { Gateway } from "./gateway.ts";
import { type Paged, paged, tellMore } from "./paged.ts";
import { notWithJson, report } from "./report.ts";
import { dollars, fields, table } from "./table.ts";

const KINDS = ["grant", "purchase"] as const;

interface GrantOptions {
  org: string;
  usd: string;
  kind: (typeof KINDS)[number];
  reference?: string;
}

export function addCredits(program: Command): void {
  const credits = program.command("credits").description("credits of organizations");
  credits
    .command("grant")
    .description("credit an organization; the same reference credits once")
    .requiredOption("--org <org>", "the organization's id or name")
    .requiredOption("--usd <amount>", "US dollars, like 5.00")
    .option("--kind <kind>", "grant, or purchase (makes a paid workspace)", oneOf(KINDS), "grant")
    .option("--reference <text>", "your name for this payment")
    .action((options: GrantOptions, command: Command) =>
      report(command, async (context) => {
        const { org, usd, kind, reference } = options;
        const body = { org, usd, kind, ...(reference !== undefined && { reference }) };
        const { text, value } = await (await context.gateway()).call("POST /admin/v1/credits", body);
        const state = value.credited ? "Credited." : "This reference was credited before; nothing was added.";
        return { json: text, text: () => `${state} Available: ${dollars(value.balance_usd)}` };
      }),
    );
  credits
    .command("refund")
    .description("return what a request cost, or part of it; the same reference refunds once")
    .argument("<request>", "the request's id, req_…")
    .requiredOption("--usd <amount>", "US dollars, like 0.05")
    .option("--reference <text>", "your name for this refund")
    .action((request: string, options: { usd: string; reference?: string }, command: Command) =>
      report(command, async (context) => {
        const { usd, reference } = options;
        const body = { request, usd, ...(reference !== undefined && { reference }) };
        const { text, value } = await (await context.gateway()).call("POST /admin/v1/credits/refund", body);
        const state = value.refunded ? "Refunded." : "This reference was refunded before; nothing was added.";
        return { json: text, text: () => `${state} Available: ${dollars(value.balance_usd)}` };
      }),
    );
  credits
    .command("show")
    .description("show an organization's credits")
    .requiredOption("--org <org>", "the organization's id or name")
    .action((options: { org: string }, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).call("GET /admin/v1/credits", {
          org: options.org,
        });
        return { json: text, text: () => fields(readable(value)) };
      }),
    );
  addList(credits);
}

interface ListOptions extends Paged {
  org?: string;
  csv?: boolean;
}

function addList(credits: Command): void {
  paged(
    credits
      .command("list")
      .description("list purchases, grants, refunds and chargebacks, newest first")
      .option("--org <org>", "only this organization's")
      .option("--csv", "print CSV (RFC 4180); without --limit and --cursor, all of them"),
  ).action(({ csv: asCsv, ...query }: ListOptions, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      if (asCsv === true) {
        notWithJson(command, "--csv");
        const rows = await credited(gateway, query);
        return { json: "", text: () => printCsv(rows) };
      }
      const { text, value } = await gateway.call("GET /admin/v1/credits/list", query);
      tellMore(value);
      return { json: text, text: () => table(value.data, CREDIT) };
    }),
  );
}

/** Returns one page if one was asked for; otherwise all pages. */
async function credited(gateway: Gateway, query: Omit<ListOptions, "csv">): Promise<CreditJson[]> {
  const rows: CreditJson[] = [];
  const whole = query.limit === undefined && query.cursor === undefined;
  for (let cursor = query.cursor; ; ) {
    const asked = { ...query, cursor, limit: query.limit ?? String(PAGE_ROWS_MAX) };
    const { value } = await gateway.call("GET /admin/v1/credits/list", asked);
    rows.push(...value.data);
    if (!whole) tellMore(value);
    if (!whole || value.next_cursor === null) return rows;
    cursor = value.next_cursor;
  }
}

const CREDIT = {
  AT: (row: CreditJson) => row.at,
  ORG: (row: CreditJson) => `${row.org_name} (${row.org})`,
  KIND: (row: CreditJson) => row.kind,
  AMOUNT: (row: CreditJson) => dollars(row.amount_usd),
  AVAILABLE: (row: CreditJson) => dollars(row.balance_after_usd),
  REFERENCE: (row: CreditJson) => row.reference,
  BY: (row: CreditJson) => row.by?.name ?? row.by?.id,
};

const COLUMNS = {
  at: (row: CreditJson) => row.at,
  org: (row: CreditJson) => row.org,
  org_name: (row: CreditJson) => row.org_name,
  kind: (row: CreditJson) => row.kind,
  amount_usd: (row: CreditJson) => row.amount_usd,
  source: (row: CreditJson) => row.source,
  reference: (row: CreditJson) => row.reference,
  balance_after_usd: (row: CreditJson) => row.balance_after_usd,
  by: (row: CreditJson) => row.by?.id ?? "",
  by_name: (row: CreditJson) => row.by?.name ?? "",
};

const printCsv = (rows: readonly CreditJson[]): string =>
  csv(
    Object.keys(COLUMNS),
    rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row))),
  );

const readable = (balance: BalanceJson): Record<string, string | boolean | null> => ({
  available: dollars(balance.available_usd),
  held: dollars(balance.held_usd),
  spent: dollars(balance.spent_usd),
  purchased: dollars(balance.purchased_usd),
  granted: dollars(balance.granted_usd),
  debt: dollars(balance.debt_usd),
  "paid workspace": balance.paid_workspace ? "yes" : "no",
});
