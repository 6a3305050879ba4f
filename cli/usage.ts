// `usage`: an organization's usage by key, model or UTC day, as a table, JSON or CSV.
import type { Command } from "commander";
import type { UsageListJson } from "../src/api/shapes/records.ts";
import { oneOf, orOf } from "./choice.ts";
import { csv } from "./csv.ts";
import { everyPage } from "./every-page.ts";
import type { Gateway } from "./gateway.ts";
import { WrongUsage } from "./problem.ts";
import { reportWatched, say, WATCH } from "./report.ts";
import { dollars, table } from "./table.ts";

const GROUPS = ["key", "model", "day"] as const;

interface UsageOptions {
  org: string;
  key?: string;
  model?: string;
  from?: string;
  to?: string;
  groupBy?: (typeof GROUPS)[number];
  csv?: boolean;
  watch?: string | boolean;
}

type Row = UsageListJson["data"][number];

export function addUsage(program: Command): void {
  program
    .command("usage")
    .description("report what an organization used")
    .requiredOption("--org <org>", "the organization's id or name")
    .option("--key <key>", "of one key")
    .option("--model <model>", "of one model")
    .option("--from <time>", "from this time on: 2026-11-01 or 2026-11-01T12:00:00Z")
    .option("--to <time>", "before")
    .option("--group-by <what>", orOf(GROUPS), oneOf(GROUPS))
    .option("--csv", "print CSV (RFC 4180)")
    .option(...WATCH)
    .action((options: UsageOptions, command: Command) =>
      reportWatched(command, options.watch, async (context) => {
        if (options.csv === true && context.options.json === true)
          throw new WrongUsage("--csv and --json cannot be combined.", "Choose one of them.");
        const { org, key, model, from, to, groupBy } = options;
        const query = { org, key, model, from, to, group_by: groupBy };
        const gateway = await context.gateway();
        const { text, value } = await everyPage(gateway.call, "GET /admin/v1/usage", query);
        if (context.options.json !== true) sayHours(options, value);
        if (options.csv === true) return { json: text, text: () => printCsv(value.data) };
        const named =
          groupBy === "key" && context.options.json !== true ? await keyNames(gateway, org) : null;
        return { json: text, text: () => printTable(value.data, named) };
      }),
    );
}

/** Usage is counted in whole hours: tells the user if the window was widened to full hours. */
function sayHours(
  asked: Pick<UsageOptions, "from" | "to">,
  counted: Pick<UsageListJson, "from" | "to">,
): void {
  const longer = (["from", "to"] as const).some((end) => {
    const [ours, theirs] = [asked[end], counted[end]];
    return ours !== undefined && typeof theirs === "string" && Date.parse(ours) !== Date.parse(theirs);
  });
  if (longer)
    say(`Whole hours are counted: from ${counted.from ?? "the beginning"} to ${counted.to ?? "now"}.`);
}

/** The names of an organization's keys, by id. */
async function keyNames(gateway: Gateway, org: string): Promise<ReadonlyMap<string, string>> {
  const { value } = await everyPage(gateway.call, "GET /admin/v1/keys", { org });
  return new Map(value.data.map(({ id, name }) => [id, name]));
}

/** Headings are short, so that the table fits a terminal of 80 columns. */
const printTable = (rows: Row[], named: ReadonlyMap<string, string> | null): string =>
  table(rows, {
    GROUP: ({ group }) => {
      const name = named?.get(group ?? "");
      return name === undefined ? (group ?? "total") : `${name} (${group})`;
    },
    REQUESTS: (row) => row.requests,
    INPUT: (row) => row.input_tokens,
    CACHED: (row) => row.cached_tokens,
    WRITTEN: (row) => row.cache_write_tokens,
    OUTPUT: (row) => row.output_tokens,
    CHARGE: (row) => dollars(row.charge_usd),
  });

const printCsv = (rows: Row[]): string =>
  csv(
    [
      "group",
      "requests",
      "input_tokens",
      "cached_tokens",
      "cache_write_tokens",
      "output_tokens",
      "charge_usd",
    ],
    rows.map((row) => [
      row.group ?? "",
      row.requests,
      row.input_tokens,
      row.cached_tokens,
      row.cache_write_tokens,
      row.output_tokens,
      row.charge_usd,
    ]),
  );
