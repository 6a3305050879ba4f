// `credits grant`, `credits refund`, `credits show`.
import type { Command } from "commander";
import type { BalanceJson } from "../src/api/shapes/records.ts";
import { report } from "./report.ts";
import { dollars, fields } from "./table.ts";

interface GrantOptions {
  org: string;
  usd: string;
  /** The gateway refuses another one. */
  kind: "grant" | "purchase";
  reference?: string;
}

export function addCredits(program: Command): void {
  const credits = program.command("credits").description("what an organization can spend");
  credits
    .command("grant")
    .description("credit an organization; the same reference credits once")
    .requiredOption("--org <org>", "the organization's id")
    .requiredOption("--usd <amount>", "US dollars, like 5.00")
    .option("--kind <kind>", "grant, or purchase (makes a paid workspace)", "grant")
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
    .requiredOption("--org <org>", "the organization's id")
    .action((options: { org: string }, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).call("GET /admin/v1/credits", {
          org: options.org,
        });
        return { json: text, text: () => fields(readable(value)) };
      }),
    );
}

const readable = (balance: BalanceJson): Record<string, string | boolean | null> => ({
  available: dollars(balance.available_usd),
  held: dollars(balance.held_usd),
  spent: dollars(balance.spent_usd),
  purchased: dollars(balance.purchased_usd),
  granted: dollars(balance.granted_usd),
  debt: dollars(balance.debt_usd),
  "paid workspace": balance.paid_workspace ? "yes" : "no",
});
