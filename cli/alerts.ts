// `alerts list|add|change|remove|deliveries`: an organization's alert rules, and the alerts it was sent.
// `channels.ts` has the channels they are sent to.
import { type Command, InvalidArgumentError } from "commander";
import type { AlertDeliveryJson, AlertRuleJson } from "../src/api/shapes/alerts.ts";
import { ALERT_KINDS, ALERT_THRESHOLDS, type AlertKind } from "../src/domain/alert-kinds.ts";
import { oneOf } from "./choice.ts";
import { confirm } from "./confirm.ts";
import { type Paged, paged, tellMore } from "./paged.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { report } from "./report.ts";
import { dollars, table } from "./table.ts";

/** The terms of a rule that were typed. */
interface Terms {
  usd?: string;
  percent?: number;
  days?: number;
  key?: string;
  channels?: string;
}

interface AddOptions extends Terms {
  org: string;
  kind: AlertKind;
  off?: boolean;
}

interface ChangeOptions extends Terms {
  org: string;
  on?: boolean;
  off?: boolean;
  ifVersion?: string;
}

export function addAlerts(program: Command): void {
  const alerts = program
    .command("alerts")
    .description("an organization's alert rules; where alerts go: channels");
  addList(alerts);
  addAdd(alerts);
  addChange(alerts);
  addRemove(alerts);
  addDeliveries(alerts);
}

function addList(alerts: Command): void {
  alerts
    .command("list")
    .description("list an organization's alert rules")
    .requiredOption("--org <org>", "the organization's id or name")
    .action(({ org }: { org: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/alerts/rules", { org });
        return { json: text, text: () => table(value.data, RULE) };
      }),
    );
}

/** Names the option that sets a kind's threshold, for people: `balance_below (--usd)`. */
const KINDS = ALERT_KINDS.map((kind) => {
  const needed = ALERT_THRESHOLDS[kind];
  return needed === null ? kind : `${kind} (--${needed === "amount_usd" ? "usd" : needed})`;
}).join(", ");

const withTerms = (command: Command): Command =>
  command
    .option("--usd <amount>", "from this amount on, like 5.00")
    .option("--percent <n>", "from 1 to 100", wholeNumber)
    .option("--days <n>", "from 1 to 365", wholeNumber)
    .option("--key <key>", "for key_limit: only this key; all: every key")
    .option("--channels <ids>", "channels besides the dashboard, separated by commas; or none");

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function addAdd(alerts: Command): void {
  withTerms(
    alerts
      .command("add")
      .description("add a rule: one message per crossing, on the dashboard and to its channels")
      .requiredOption("--org <org>", "the organization's id or name")
      .requiredOption("--kind <kind>", KINDS, oneOf(ALERT_KINDS)),
  )
    .option("--off", "add it without watching yet")
    .action((options: AddOptions, command: Command) =>
      report(command, async (context) => {
        const { org, kind, off } = options;
        const terms = { ...NOTHING, channels: [], ...termsOf(options) };
        const gateway = await context.gateway();
        const input = { org, kind, on: off !== true, ...terms };
        const { text, value } = await gateway.call("POST /admin/v1/alerts/rules", input);
        return { json: text, text: () => table([value], RULE) };
      }),
    );
}

const NOTHING = { amount_usd: null, percent: null, days: null, key: null };

/** Omits the terms that were not typed. */
const termsOf = ({ usd, percent, days, key, channels }: Terms) => ({
  ...(usd !== undefined && { amount_usd: usd }),
  ...(percent !== undefined && { percent }),
  ...(days !== undefined && { days }),
  ...(key !== undefined && { key: key === "all" ? null : key }),
  ...(channels !== undefined && {
    channels: channels === "none" ? [] : channels.split(",").map((id) => id.trim()),
  }),
});

function addChange(alerts: Command): void {
  withTerms(
    alerts
      .command("change <rule>")
      .description("change a rule; options you leave out stay as they are")
      .requiredOption("--org <org>", "the organization's id or name"),
  )
    .option("--on", "watch again")
    .option("--off", "stop watching, and keep the rule")
    .option(
      "--if-version <version>",
      "refuse if the rule changed since `alerts list --json` showed this version",
    )
    .action((rule: string, options: ChangeOptions, command: Command) =>
      report(command, async (context) => {
        const { org, on, off, ifVersion } = options;
        if (on === true && off === true)
          throw new WrongUsage("--on and --off cannot be combined.", "Choose one of them.");
        const gateway = await context.gateway();
        const { value: rules } = await gateway.call("GET /admin/v1/alerts/rules", { org });
        const before = rules.data.find(({ id }) => id === rule);
        if (before === undefined)
          throw new Problem(
            `There is no alert rule ${rule} in ${org}.`,
            `List them: ./tollgate alerts list --org ${org}`,
          );
        const { kind, amount_usd, percent, days, key, channels, version } = before;
        const { text, value } = await gateway.call("POST /admin/v1/alerts/rules/{rule}/change", {
          kind,
          amount_usd,
          percent,
          days,
          key,
          channels,
          on: before.on,
          ...termsOf(options),
          ...(on === true && { on: true }),
          ...(off === true && { on: false }),
          org,
          rule,
          version: ifVersion ?? version,
        });
        return { json: text, text: () => table([value], RULE) };
      }),
    );
}

function addRemove(alerts: Command): void {
  alerts
    .command("remove <rule>")
    .description("remove a rule")
    .requiredOption("--org <org>", "the organization's id or name")
    .option("--yes", "do not ask")
    .action((rule: string, { org, yes }: { org: string; yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "It no longer alerts anyone.", name: rule, yes });
        const target = "POST /admin/v1/alerts/rules/{rule}/remove";
        const { text } = await gateway.call(target, { org, rule });
        return { json: text, text: `${rule} is removed.` };
      }),
    );
}

function addDeliveries(alerts: Command): void {
  paged(
    alerts
      .command("deliveries")
      .description("list messages sent, newest first, and whether they arrived")
      .requiredOption("--org <org>", "the organization's id or name"),
  ).action((query: Paged & { org: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await gateway.call("GET /admin/v1/alerts/deliveries", query);
      tellMore(value);
      return { json: text, text: () => table(value.data, DELIVERY) };
    }),
  );
}

const thresholdOf = ({ amount_usd, percent, days }: AlertRuleJson): string | null => {
  if (amount_usd !== null) return dollars(amount_usd);
  if (percent !== null) return `${percent}%`;
  return days === null ? null : `${days} days`;
};

const RULE = {
  RULE: (row: AlertRuleJson) => row.id,
  KIND: (row: AlertRuleJson) => row.kind,
  FROM: thresholdOf,
  KEY: (row: AlertRuleJson) => row.key,
  CHANNELS: (row: AlertRuleJson) => ["dashboard", ...row.channels].join(", "),
  STATE: (row: AlertRuleJson) => (row.on ? (row.firing ? "firing" : "watching") : "off"),
  "LAST FIRED": (row: AlertRuleJson) => row.last_fired_at,
};

export const DELIVERY = {
  AT: (row: AlertDeliveryJson) => row.at,
  CHANNEL: (row: AlertDeliveryJson) => row.channel,
  KIND: (row: AlertDeliveryJson) => row.kind,
  STATE: (row: AlertDeliveryJson) => row.state,
  TRIES: (row: AlertDeliveryJson) => row.tries,
  TEXT: (row: AlertDeliveryJson) => row.text,
  REASON: (row: AlertDeliveryJson) => row.reason,
};
