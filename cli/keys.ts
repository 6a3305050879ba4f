// `keys create`, `keys list`, `keys update`, `keys pause`, `keys resume`, `keys replace`, `keys revoke`, `keys
// rename`, `keys limit`. `create` and `replace` print the secret once.
import { type Command, InvalidArgumentError } from "commander";
import type { KeyJson } from "../src/api/shapes/keys.ts";
import { counted } from "../src/domain/counted.ts";
import { oneOf, orOf } from "./choice.ts";
import { confirm } from "./confirm.ts";
import { tellUnknownModels } from "./known-models.ts";
import { type Paged, wholeOrPage, wholeOrPaged } from "./paged.ts";
import { report } from "./report.ts";
import { dollars, fields, table } from "./table.ts";

/** The settings of a key as typed; `none` lifts a limit. */
interface SettingOptions {
  limitUsd?: string;
  dayLimitUsd?: string;
  weekLimitUsd?: string;
  models?: string;
  maxOutput?: number | "none";
  expires?: string;
}

interface CreateOptions extends SettingOptions {
  org: string;
  name: string;
  scope: Scope;
}
const SCOPES = ["standard", "research"] as const;
type Scope = (typeof SCOPES)[number];

/** For `rename` and `limit`; without it they change whatever version of the key is current. */
const IF_VERSION = [
  "--if-version <version>",
  "refuse if the key changed since `keys list --json` showed this version",
] as const;

export function addKeys(program: Command): void {
  const keys = program.command("keys").description("API keys (gw_sk_…) of organizations");
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
  addRename(keys);
  addLimit(keys);
  addUpdate(keys);
  addPause(keys);
  addResume(keys);
  addReplace(keys);
}

const withSettings = (command: Command): Command =>
  command
    .option("--limit-usd <amount>", "spend limit per UTC calendar month, or none")
    .option("--day-limit-usd <amount>", "the same per UTC day")
    .option("--week-limit-usd <amount>", "the same per week, from Monday 00:00 UTC")
    .option("--models <ids>", "models it may use, separated by commas; all: every model of its scope")
    .option("--max-output <tokens>", "maximum output tokens per request, or none", readTokens)
    .option("--expires <time>", "when it expires, permanently: 2026-12-31T00:00:00Z, or none");

function readTokens(text: string): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of tokens, or none.");
}

function readHours(text: string): number {
  if (/^\d{1,4}(\.\d{1,4})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number of hours, like 24 or 0.5.");
}

/** Omits the settings that were not typed. */
const settingsOf = (typed: SettingOptions) => ({
  limit_usd: boundOf(typed.limitUsd),
  day_limit_usd: boundOf(typed.dayLimitUsd),
  week_limit_usd: boundOf(typed.weekLimitUsd),
  allowed_models: typed.models === "all" ? null : typed.models?.split(",").map((model) => model.trim()),
  max_output_tokens: boundOf(typed.maxOutput),
  expires_at: boundOf(typed.expires),
});
const boundOf = <T>(typed: T | "none" | undefined): T | null | undefined =>
  typed === "none" ? null : (typed as T);

/** The limits that are set on a key. */
const boundsOf = (key: KeyJson): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries({
      limit: dollars(key.limit_usd),
      "day limit": dollars(key.day_limit_usd),
      "week limit": dollars(key.week_limit_usd),
      models: key.allowed_models?.join(", ") ?? null,
      "max output": key.max_output_tokens === null ? null : counted(key.max_output_tokens, "token"),
      expires: key.expires_at,
    }).filter(([, value]) => value !== null && value !== ""),
  );

const withSecret = (key: KeyJson & { secret: string | null }): string =>
  fields({ id: key.id, scope: key.scope, ...boundsOf(key), secret: key.secret });
const KEEP_IT = "Keep the secret now: it is not shown again.";

function addCreate(keys: Command): void {
  withSettings(
    keys
      .command("create")
      .description("create a key; its secret is shown only now")
      .requiredOption("--org <org>", "the organization's id or name")
      .requiredOption("--name <name>", "what the key is for")
      .option("--scope <scope>", orOf(SCOPES), oneOf(SCOPES), "standard"),
  ).action((options: CreateOptions, command: Command) =>
    report(command, async (context) => {
      const { org, name, scope } = options;
      const gateway = await context.gateway();
      const input = { org, name, scope, ...settingsOf(options) };
      await tellUnknownModels(gateway, input.allowed_models, scope);
      const { text, value } = await gateway.call("POST /admin/v1/keys", input);
      return { json: text, text: () => `${withSecret(value)}\n${KEEP_IT}` };
    }),
  );
}

/** As the operator API names them; `not_over`: neither revoked nor expired. */
const STATES = ["not_over", "usable", "active", "blocked_by_limit", "paused", "expired", "revoked"] as const;

function addList(keys: Command): void {
  wholeOrPaged(
    keys
      .command("list")
      .description("list an organization's keys, oldest first")
      .requiredOption("--org <org>", "the organization's id or name")
      .option("--search <text>", "part of the name, prefix, last four characters or id")
      .option("--state <state>", orOf(STATES), oneOf(STATES)),
  ).action(
    (options: Paged & { org: string; search?: string; state?: (typeof STATES)[number] }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await wholeOrPage(gateway, "GET /admin/v1/keys", { ...options });
        const columns = {
          ID: (row: KeyJson) => row.id,
          NAME: (row: KeyJson) => row.name,
          "LAST FOUR": (row: KeyJson) => row.last_four,
          SCOPE: (row: KeyJson) => row.scope,
          STATUS: stateOf,
          "THIS MONTH": (row: KeyJson) => dollars(row.month_spend_usd),
          HELD: (row: KeyJson) => dollars(row.held_usd),
          LIMIT: (row: KeyJson) => dollars(row.limit_usd),
          "LAST USED": (row: KeyJson) => row.last_used_at,
        };
        return { json: text, text: () => table(value.data, columns) };
      }),
  );
}

function addRevoke(keys: Command): void {
  keys
    .command("revoke <key>")
    .description("revoke a key permanently, from its next request on")
    .option("--yes", "do not ask")
    .action((key: string, options: { yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "A revoked key cannot be restored.", name: key, yes: options.yes });
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/revoke", { key });
        return { json: text, text: () => overSince(value) };
      }),
    );
}

/** For a key that had already ended before this command. */
const overSince = ({ id, revoked_at, expires_at }: KeyJson): string =>
  revoked_at === null ? `${id} had already expired at ${expires_at}.` : `${id} was revoked at ${revoked_at}.`;

function addRename(keys: Command): void {
  keys
    .command("rename <key>")
    .description("rename a key")
    .requiredOption("--name <name>", "what the key is for")
    .option(...IF_VERSION)
    .action((key: string, options: { name: string; ifVersion?: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const input = { key, name: options.name, version: options.ifVersion };
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/rename", input);
        return { json: text, text: () => `${value.id} is now named ${value.name}.` };
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
        return { json: text, text: () => limitOf(value) };
      }),
    );
}

function limitOf({ id, limit_usd, month_spend_usd }: KeyJson): string {
  const limit = limit_usd === null ? "has no limit" : `is limited to ${dollars(limit_usd)} a month`;
  return `${id} ${limit}; spent this month: ${dollars(month_spend_usd)}.`;
}

function addUpdate(keys: Command): void {
  withSettings(
    keys
      .command("update <key>")
      .description("change a key's name and settings; options you leave out stay as they are")
      .option("--name <name>", "what the key is for")
      .option(...IF_VERSION),
  ).action((key: string, options: SettingOptions & { name?: string; ifVersion?: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const input = { key, name: options.name, version: options.ifVersion, ...settingsOf(options) };
      await tellUnknownModels(gateway, input.allowed_models, null);
      const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/update", input);
      return { json: text, text: () => fields({ id: value.id, name: value.name, ...boundsOf(value) }) };
    }),
  );
}

function addPause(keys: Command): void {
  keys
    .command("pause <key>")
    .description("pause a key from its next request on, until it is resumed")
    .action((key: string, _: unknown, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/pause", { key });
        return { json: text, text: () => `${value.id} was paused at ${value.paused_at}.` };
      }),
    );
}

function addResume(keys: Command): void {
  keys
    .command("resume <key>")
    .description("resume a paused key")
    .action((key: string, _: unknown, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/resume", { key });
        return { json: text, text: () => `${value.id} is ${stateOf(value)}.` };
      }),
    );
}

function addReplace(keys: Command): void {
  keys
    .command("replace <key>")
    .description("create a key with another key's settings; both work until the old one expires")
    .option("--overlap <hours>", "the old key expires after this many hours", readHours)
    .option("--expires <time>", "when the new key expires, or none; otherwise like the old one")
    .action((key: string, options: { overlap?: number; expires?: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const input = { key, overlap_hours: options.overlap ?? null, expires_at: boundOf(options.expires) };
        const { text, value } = await gateway.call("POST /admin/v1/keys/{key}/replace", input);
        const ends =
          options.overlap === undefined
            ? `${key} works until it is revoked.`
            : `${key} expires in ${counted(options.overlap, "hour")}.`;
        return { json: text, text: () => `${withSecret(value)}\n${KEEP_IT} ${ends}` };
      }),
    );
}

function stateOf(key: KeyJson): string {
  if (key.status !== "active") return key.status;
  return key.blocked_by_limit ? "blocked by limit" : "active";
}
