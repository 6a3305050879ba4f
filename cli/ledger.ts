// `ledger audit` checks every invariant of the ledger while traffic runs; it exits with 1 if one is broken. `ledger
// quarantine` and `resolve` list and settle by hand requests that could not be ended. `ledger stopped` and `resume`
// are for organizations whose books do not add up.
import type { Command } from "commander";
import type { AuditReportJson, QuarantinedJson, ViolationJson } from "../src/api/shapes/records.ts";
import { counted } from "../src/domain/counted.ts";
import { everyPage } from "./every-page.ts";
import { tellMore } from "./paged.ts";
import { WrongUsage } from "./problem.ts";
import { report, say } from "./report.ts";
import { dollars, table } from "./table.ts";

export function addLedger(program: Command): void {
  const ledger = program.command("ledger").description("check the ledger and resolve what it reports");
  ledger
    .command("audit")
    .description("check every invariant while traffic runs")
    .action((_: object, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).call("GET /admin/v1/ledger/audit", {});
        if (!value.ok) say("Something does not add up. Keep the store as it is, and report it.");
        for (const { org, since } of value.stopped)
          say(`Paid calls of ${org} have been refused since ${since}: ./tollgate ledger stopped`);
        return { json: text, text: () => describe(value), exitCode: value.ok ? 0 : 1 };
      }),
    );
  ledger
    .command("quarantine")
    .description(
      "list requests whose record is damaged, the oldest first; their credits stay held until you decide",
    )
    .option("--limit <n>", "at most this many, up to 200")
    .option("--cursor <cursor>", "next_cursor of the previous page")
    .action(({ limit, cursor }: { limit?: string; cursor?: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/ledger/quarantine", { limit, cursor });
        tellMore(value);
        return {
          json: text,
          text: () => (value.data.length === 0 ? "Nothing is in quarantine." : table(value.data, HELD)),
        };
      }),
    );
  addResolve(ledger);
  addStopped(ledger);
}

function addStopped(ledger: Command): void {
  ledger
    .command("stopped")
    .description("list organizations whose paid calls are refused because their books do not add up")
    .action((_: object, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await everyPage(
          (await context.gateway()).call,
          "GET /admin/v1/ledger/stopped",
          {},
        );
        const rows = value.data.flatMap(({ since, violations, org }) =>
          violations.map((violation) => ({ ...violation, org, since })),
        );
        return {
          json: text,
          text: () => (value.data.length === 0 ? "No organization is stopped." : table(rows, BROKEN)),
        };
      }),
    );
  ledger
    .command("resume <org>")
    .description("resume a stopped organization, accepting its entries up to now as they are")
    .requiredOption("--reason <text>", "for the audit log")
    .action((org: string, { reason }: { reason: string }, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await (await context.gateway()).call(
          "POST /admin/v1/ledger/stopped/{org}/resume",
          { org, reason },
        );
        return { json: text, text: () => `${value.org} can make paid calls again.` };
      }),
    );
}

const BROKEN = {
  ORG: (row: Broken) => row.org,
  SINCE: (row: Broken) => row.since,
  INVARIANT: (row: Broken) => row.invariant,
  REQUEST: (row: Broken) => row.request_id,
  EXPECTED: (row: Broken) => row.expected,
  FOUND: (row: Broken) => row.found,
};
type Broken = ViolationJson & { org: string; since: string };

interface ResolveOptions {
  settle?: string;
  release?: true;
  reason: string;
}

function addResolve(ledger: Command): void {
  ledger
    .command("resolve <request>")
    .description("end a request in quarantine: charge at most what it held, or release it")
    .option("--settle <usd>", "charge this much, like 0.004")
    .option("--release", "release the whole hold")
    .requiredOption("--reason <text>", "for the audit log")
    .action((request: string, { settle, release, reason }: ResolveOptions, command: Command) =>
      report(command, async (context) => {
        if ((settle === undefined) === (release === undefined))
          throw new WrongUsage("It is not clear how to end it.", "Give either --settle <usd> or --release.");
        const body = { charge_usd: settle ?? null, reason };
        const { text, value } = await (await context.gateway()).call(
          "POST /admin/v1/ledger/quarantine/{id}/resolve",
          { id: request, ...body },
        );
        const done = release === undefined ? `Charged ${dollars(value.charge_usd)}.` : "Released.";
        return { json: text, text: () => `${done} Available: ${dollars(value.balance_usd)}` };
      }),
    );
}

const HELD = {
  REQUEST: (row: QuarantinedJson) => row.id,
  ORG: (row: QuarantinedJson) => row.org,
  MODEL: (row: QuarantinedJson) => row.model,
  HELD: (row: QuarantinedJson) => dollars(row.held_usd),
  SINCE: (row: QuarantinedJson) => row.since,
  WHY: (row: QuarantinedJson) => row.reason,
};

function describe({ ok, checked, violations, accepted }: AuditReportJson): string {
  const names = Object.keys(checked);
  const total = Object.values(checked).reduce((sum, rows) => sum + rows, 0);
  const found = ok
    ? `Every invariant holds: ${names.length} checked over ${counted(total, "row")}.`
    : table(violations, FOUND);
  if (accepted.length === 0) return found;
  return `${found}\n\nAccepted by an operator when the organization was resumed:\n${table(accepted, FOUND)}`;
}

const FOUND = {
  INVARIANT: (row: ViolationJson) => row.invariant,
  ORG: (row: ViolationJson) => row.org,
  REQUEST: (row: ViolationJson) => row.request_id,
  EXPECTED: (row: ViolationJson) => row.expected,
  FOUND: (row: ViolationJson) => row.found,
};
