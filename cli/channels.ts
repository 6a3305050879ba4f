// `channels list|add|remove|test`: where an organization's alerts are sent. A webhook's signing secret is printed
// once, by `add`.
import type { Command } from "commander";
import { setTimeout as sleep } from "node:timers/promises";
import type { AlertChannelJson, AlertDeliveryJson } from "../src/api/shapes/alerts.ts";
import { OUTCOME_WITHIN_MS, outcomeOf } from "../src/domain/delivery-outcome.ts";
import { OWN_NAME } from "../src/domain/own-name.ts";
import { confirm } from "./confirm.ts";
import { DELIVERY } from "./alerts.ts";
import type { Gateway } from "./gateway.ts";
import { WrongUsage } from "./problem.ts";
import { report } from "./report.ts";
import { fields, table } from "./table.ts";

const ASK_EVERY_MS = 250;

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
    .requiredOption("--org <org>", "the organization's id or name")
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
    .description("add a webhook (its signing secret is shown only now) or a mailbox")
    .requiredOption("--org <org>", "the organization's id or name")
    .requiredOption("--name <name>", "its display name")
    .option("--webhook <url>", "an https address that accepts Standard Webhooks")
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
    .description("remove a channel, also from the rules that use it")
    .requiredOption("--org <org>", "the organization's id or name")
    .option("--yes", "do not ask")
    .action((channel: string, { org, yes }: { org: string; yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, { what: "It no longer receives alerts.", name: channel, yes });
        const target = "POST /admin/v1/alerts/channels/{channel}/remove";
        const { text } = await gateway.call(target, { org, channel });
        return { json: text, text: `${channel} is removed.` };
      }),
    );
}

function addTest(channels: Command): void {
  channels
    .command("test <channel>")
    .description("send a test and wait for the result; exit code 1 if it did not arrive")
    .requiredOption("--org <org>", "the organization's id or name")
    .action((channel: string, { org }: { org: string }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const target = "POST /admin/v1/alerts/channels/{channel}/test";
        const sent = await gateway.call(target, { org, channel });
        const { text, value } = await outcomeOfTest(gateway, { org, sent });
        const exitCode = outcomeOf(value) === "delivered" ? 0 : 1;
        return { json: text, text: () => `${table([value], DELIVERY)}\n${inWords(value)}`, exitCode };
      }),
    );
}

type Sent = Awaited<ReturnType<Gateway["call"]>> & { value: AlertDeliveryJson };

/** Polls until the first attempt has ended, or until its timeout has passed. */
async function outcomeOfTest(gateway: Gateway, { org, sent }: { org: string; sent: Sent }): Promise<Sent> {
  const endsAtMs = Date.now() + OUTCOME_WITHIN_MS;
  let latest = sent;
  while (outcomeOf(latest.value) === "unknown" && Date.now() < endsAtMs) {
    await sleep(ASK_EVERY_MS);
    const asked = { org, delivery: sent.value.id };
    latest = await gateway.call("GET /admin/v1/alerts/deliveries/{delivery}", asked);
  }
  return latest;
}

function inWords(value: AlertDeliveryJson): string {
  const { status, reason, next_try_at: next } = value;
  switch (outcomeOf(value)) {
    case "delivered":
      return status === null ? "It arrived." : `It arrived: its receiver answered ${status}.`;
    case "failed":
      return `It did not arrive and is not retried: ${reason}`;
    case "tried_again":
      return `It did not arrive: ${reason} It is tried again${next === null ? "" : ` at ${next}`}.`;
    case "unknown":
      return `The outcome is not known yet: no attempt ended within ${OUTCOME_WITHIN_MS / 1000} seconds. ${OWN_NAME} alerts deliveries shows the outcome.`;
  }
}

const CHANNEL = {
  CHANNEL: (row: AlertChannelJson) => row.id,
  KIND: (row: AlertChannelJson) => row.kind,
  NAME: (row: AlertChannelJson) => row.name,
  TARGET: (row: AlertChannelJson) => row.target,
  // The dashboard's own list is older than any organization.
  CREATED: (row: AlertChannelJson) => (row.kind === "dashboard" ? null : row.created_at),
};
