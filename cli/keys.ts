// `keys create`, `keys list`, `keys revoke`, `keys rename`, `keys limit`. The secret is printed once, by `create`.
import type { Command } from "commander";
import type { KeyJson } from "../src/api/shapes/keys.ts";
import { confirm } from "./confirm.ts";
import { report } from "./report.ts";
import { dollars, fields, table } from "./table.ts";

interface CreateOptions {
  org: string;
  name: string;
  /** The gateway refuses another one. */
  scope: "standard" | "research";
  limitUsd?: string;
}

/** Of `rename` and `limit`; without it they change the key as it is by then. */
const IF_VERSION = [
  "--if-version <version>",
  "refuse when somebody changed the key since `keys list --json` said this",
] as const;

export function addKeys(program: Command): void {
  const keys = program.command("keys").description("API keys (gw_sk_…) of organizations");
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
  addRename(keys);
  addLimit(keys);
}

function addCreate(keys: Command): void {
  keys
    .command("create")
    .description("create a key; its secret is shown here and never again")
    .requiredOption("--org <org>", "the organization's id")
    .requiredOption("--name <name>", "what the key is for")
    .option("--scope <scope>", "standard or research", "standard")
    .option("--limit-usd <amount>", "spend limit per UTC calendar month")
    .action((options: CreateOptions, command: Command) =>
      report(command, async (context) => {
        const { org, name, scope, limitUsd } = options;
        const gateway = await context.gateway();
        const input = { org, name, scope, limit_usd: limitUsd ?? null };
        const { text, value } = await gateway.call("POST /admin/v1/keys", input);
        const shown = {
          id: value.id,
          scope: value.scope,
          limit: dollars(value.limit_usd),
          secret: value.secret,
        };
        return { json: text, text: `${fields(shown)}\nKeep the secret now: it is not shown again.` };
      }),
    );
}

function addList(keys: Command): void {
  keys
    .command("list")
    .description("list an organization's keys")
    .requiredOption("--org <org>", "the organization's id")
    .action((options: { org: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/keys", { org: options.org });
        const columns = {
          ID: (row: KeyJson) => row.id,
          NAME: (row: KeyJson) => row.name,
          SCOPE: (row: KeyJson) => row.scope,
          STATUS: stateOf,
          "THIS MONTH": (row: KeyJson) => dollars(row.month_spend_usd),
          HELD: (row: KeyJson) => dollars(row.held_usd),
          LIMIT: (row: KeyJson) => dollars(row.limit_usd),
          "LAST USED": (row: KeyJson) => row.last_used_at,
        };
        return { json: text, text: table(value.data, columns) };
      }),
    );
}

function addRevoke(keys: Command): void {
  keys
    .command("revoke <key>")
    .description("revoke a key, for good, from its very next request")
    .option("--yes", "do not ask")
    .action((key: string, options: { yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "A revoked key cannot be restored.", name: key, yes: options.yes });
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/revoke", { key });
        return { json: text, text: `${value.id} is revoked since ${value.revoked_at}.` };
      }),
    );
}

function addRename(keys: Command): void {
  keys
    .command("rename <key>")
    .description("give a key another name")
    .requiredOption("--name <name>", "what the key is for")
    .option(...IF_VERSION)
    .action((key: string, options: { name: string; ifVersion?: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const input = { key, name: options.name, version: options.ifVersion };
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/rename", input);
        return { json: text, text: `${value.id} is named ${value.name}.` };
      }),
    );
}

function addLimit(keys: Command): void {
  keys
    .command("limit <key>")
    .description("set or lift a key's monthly spend limit")
    .requiredOption("--usd <amount|none>", "US dollars per UTC calendar month, or none")
    .option(...IF_VERSION)
    .action((key: string, options: { usd: string; ifVersion?: string }, command: Command) =>
      report(command, async (context) => {
        const usd = options.usd === "none" ? null : options.usd;
        const gateway = await context.gateway();
        const input = { key, usd, version: options.ifVersion };
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/limit", input);
        const limit =
          value.limit_usd === null ? "has no limit" : `is limited to ${dollars(value.limit_usd)} a month`;
        return {
          json: text,
          text: `${value.id} ${limit}; spent this month: ${dollars(value.month_spend_usd)}.`,
        };
      }),
    );
}

function stateOf(key: KeyJson): string {
  if (key.status === "revoked") return "revoked";
  return key.blocked_by_limit ? "blocked by limit" : "active";
}
