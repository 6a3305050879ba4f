// `channels list|add|remove|test`: where an organization's alerts go. A webhook's signing secret is printed once, by `add`.
import type { Command } from "commander";
import type { AlertChannelJson, AlertDeliveryJson } from "../src/api/shapes/alerts.ts";
import { confirm } from "./confirm.ts";
import { DELIVERY } from "./alerts.ts";
import type { Gateway } from "./gateway.ts";
import { WrongUsage } from "./problem.ts";
import { report } from "./report.ts";
import { fields, table } from "./table.ts";

interface AddOptions {
  org: string;
  name: string;
  webhook?: string;
  mail?: string;
}

export function addChannels(program: Command): void {
  const channels = program.command("channels").description("where an organization's alerts go");
  addList(channels);
  addAdd(channels);
  addRemove(channels);
  addTest(channels);
}

function addList(channels: Command): void {
  channels
    .command("list")
    .description("list an organization's channels, the dashboard's own list first")
    .requiredOption("--org <org>", "the organization's id")
    .action(({ org }: { org: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("GET /admin/v1/alerts/channels", { org });
        return { json: text, text: () => table(value.data, CHANNEL) };
      }),
    );
}

function addAdd(channels: Command): void {
  channels
    .command("add")
    .description("add a webhook, whose signing secret is shown here and never again, or a mailbox")
    .requiredOption("--org <org>", "the organization's id")
    .requiredOption("--name <name>", "what people call it")
    .option("--webhook <url>", "an https address that takes Standard Webhooks")
    .option("--mail <address>", "the address of a member, where the gateway sends mail")
    .action((options: AddOptions, command: Command) =>
      report(command, async (context) => {
        const { org, name } = options;
        const gateway = await context.gateway();
        const input = { org, name, ...whereOf(options) };
        const { text, value } = await gateway.call("POST /admin/v1/alerts/channels", input);
        const { id, kind, target, secret } = value;
        const kept = secret === null ? "" : "\nKeep the secret now: it is not shown again.";
        return {
          json: text,
          text: () => `${fields({ id, kind, target, ...(secret !== null && { secret }) })}${kept}`,
        };
      }),
    );
}

function whereOf({ webhook, mail }: AddOptions): { kind: "webhook" | "mail"; target: string } {
  if (webhook !== undefined && mail === undefined) return { kind: "webhook", target: webhook };
  if (mail !== undefined && webhook === undefined) return { kind: "mail", target: mail };
  throw new WrongUsage(
    "A channel is either a webhook or a mailbox.",
    "Give --webhook URL or --mail ADDRESS.",
  );
}

function addRemove(channels: Command): void {
  channels
    .command("remove <channel>")
    .description("remove a channel, from the rules that told it, too")
    .requiredOption("--org <org>", "the organization's id")
    .option("--yes", "do not ask")
    .action((channel: string, { org, yes }: { org: string; yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "It is told nothing any more.", name: channel, yes });
        const target = "POST /admin/v1/alerts/channels/{channel}/remove";
        const { text } = await gateway.call(target, { org, channel });
        return { json: text, text: `${channel} is removed.` };
      }),
    );
}

function addTest(channels: Command): void {
  channels
    .command("test <channel>")
    .description("send a test, and wait for its first try; exit code 1 when it did not arrive")
    .requiredOption("--org <org>", "the organization's id")
    .action((channel: string, { org }: { org: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const target = "POST /admin/v1/alerts/channels/{channel}/test";
        const sent = (await gateway.call(target, { org, channel })).value;
        const tried = await firstTry(gateway, org, sent);
        const exitCode = tried.state === "delivered" ? 0 : 1;
        return { json: JSON.stringify(tried), text: () => table([tried], DELIVERY), exitCode };
      }),
    );
}

/** A round begins every two seconds, and a receiver has ten. */
const TRIED_WITHIN_MS = 15_000;
const LOOKED_EVERY_MS = 500;

/** The delivery once its first try has ended, or as it is when none has for so long. */
async function firstTry(gateway: Gateway, org: string, sent: AlertDeliveryJson): Promise<AlertDeliveryJson> {
  let seen = sent;
  const untilMs = performance.now() + TRIED_WITHIN_MS;
  while (seen.state === "waiting" && seen.reason === null && performance.now() < untilMs) {
    await Bun.sleep(LOOKED_EVERY_MS);
    const { data } = (await gateway.call("GET /admin/v1/alerts/deliveries", { org })).value;
    seen = data.find(({ id }) => id === sent.id) ?? seen;
  }
  return seen;
}

const CHANNEL = {
  CHANNEL: (row: AlertChannelJson) => row.id,
  KIND: (row: AlertChannelJson) => row.kind,
  NAME: (row: AlertChannelJson) => row.name,
  TARGET: (row: AlertChannelJson) => row.target,
  // The dashboard's own list was there before any organization.
  CREATED: (row: AlertChannelJson) => (row.kind === "dashboard" ? null : row.created_at),
};
