import { counted } from "../../format/count.ts";

/** The state of a test. */
interface Came {
  name: string;
  status: number | null;
  reason: string;
  late: boolean;
}

export const alertsTexts = {
  lead: "You get one message when a condition starts, not one per request. Messages go to mailboxes and signed webhooks.",
  addRule: "Add a rule",
  editRule: "Edit the rule",
  noRules: "Nothing is watched yet. A rule tells you before credits run out or a key reaches its limit.",
  noDeliveries: "No message has been sent yet.",
  rules: "Rules",
  channels: "Channels",
  addChannel: "Add a channel",
  deliveries: "Deliveries",
  firing: "firing",
  quiet: "quiet",
  off: "off",
  on: "On",
  dashboard: "this page",
  edit: "Edit",
  remove: "Remove",
  test: "Send a test",
  outcomes: {
    delivered: ({ name, status }: Came) =>
      status === null ? `The test of ${name} arrived.` : `The test of ${name} arrived: answered ${status}.`,
    tried_again: ({ name, reason }: Came) =>
      `The test of ${name} did not arrive: ${reason} It is tried again by itself.`,
    failed: ({ name, reason }: Came) =>
      `The test of ${name} did not arrive, and is not tried again: ${reason}`,
    unknown: ({ name, late }: Came) =>
      late
        ? `No try of the test of ${name} has ended yet. What comes of it will stand under Deliveries.`
        : `Sending a test to ${name} …`,
  },
  menu: (name: string) => `Actions for ${name}`,
  when: "When",
  amount: "Amount in US dollars",
  percent: "Percent",
  days: "Days",
  key: "Key",
  everyKey: "Every key",
  tell: "Tell",
  tellHelp: "Deliveries are listed here either way.",
  address: "Address",
  addressHelp: "https only. Addresses of this machine and of private networks are rejected.",
  mailbox: "Mailbox",
  mailboxHelp: "A member's mail address. Mail stops when they leave the organization.",
  secretTitle: "The secret of your new webhook",
  secretOnce: "Deliveries are signed with this secret (Standard Webhooks). It is shown only now.",
  removeRule: "Remove the rule",
  removeRuleHelp: (condition: string) =>
    `Nobody will be told when ${condition}. Messages already sent stay listed.`,
  removeChannel: (name: string) => `Remove ${name}`,
  removeChannelHelp: "It gets no more messages. Rules that use it keep their other channels.",
  tries: (count: number) => counted(count, "try", "tries"),
  nextTry: "next try",
  kinds: { webhook: "Webhook", mail: "Mail", dashboard: "This page" },
  keyLimitOf: (name: string, value: string) => `${name} has used ${value} of its limit`,
  conditions: {
    balance_below: (value: string) => `the balance falls below ${value}`,
    days_left_below: (value: string) => `credits last less than ${counted(value, "day")}`,
    key_limit: (value: string) => `a key has used ${value} of its limit`,
    spend_per_day: (value: string) => `spend of a day passes ${value}`,
    error_rate: (value: string) => `errors pass ${value} of requests`,
    route_not_live: () => "a route you use is about to close or closed",
    auto_top_up_failed: () => "an automatic top-up fails",
  },
  columns: {
    rule: "When",
    state: "State",
    channels: "Tells",
    fired: "Last time",
    actions: "Actions",
    name: "Name",
    kind: "Kind",
    target: "Address",
    at: "Time",
    text: "Message",
    channel: "Channel",
  },
} as const;
