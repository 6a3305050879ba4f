// Alerts of an organization: rules, their channels, deliveries.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import type { KeyRooms } from "./rooms.ts";
import * as shapes from "./shapes/alerts.ts";
import { pageQuery } from "./shapes/billing.ts";
import { DONE, done, id, orgId } from "./shapes/fields.ts";

const organization = z.strictObject({ org: orgId });
const oneRule = z.strictObject({ org: orgId, rule: id });
const oneChannel = z.strictObject({ org: orgId, channel: id });

export const alertsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/alerts/rules",
    who: "alerts.see",
    input: organization,
    output: shapes.alertRuleList,
    run: async ({ input: { org } }, rooms) => {
      const rules = await rooms.alerts.rules(org);
      const ids = rules.data.flatMap(({ key }) => key ?? []);
      const names = await rooms.reports.labels.keysOf(org, ids);
      return { ...rules, keys: [...names].map(([id, { name }]) => ({ id, name })) };
    },
  }),
  endpoint({
    target: "GET /admin/v1/alerts/rules",
    who: "alerts.see",
    summary: "List an organization's alert rules",
    input: organization,
    output: shapes.alertRules,
    run: async ({ input: { org } }, rooms) => (await alertsOf(rooms, org)).rules(org),
  }),
  endpoint({
    target: ["POST /app/v1/orgs/{org}/alerts/rules", "POST /admin/v1/alerts/rules"],
    who: "alerts.change",
    summary: "Add an alert rule, with whichever of amount_usd, percent and days its kind needs",
    input: shapes.alertRuleInput.extend({ org: orgId }).meta({ id: "CreateAlertRule" }),
    output: shapes.alertRule,
    status: 201,
    audit: "alert_rule.create",
    run: async ({ input: { org, ...rule }, caller }, rooms) =>
      (await alertsOf(rooms, org)).addRule(org, rule, caller.actor),
  }),
  endpoint({
    target: ["PUT /app/v1/orgs/{org}/alerts/rules/{rule}", "POST /admin/v1/alerts/rules/{rule}/change"],
    who: "alerts.change",
    summary: "Replace the terms that an alert rule had at `version`",
    input: shapes.changeAlertRuleInput.extend({ org: orgId, rule: id }).meta({ id: "ChangeAlertRule" }),
    output: shapes.alertRule,
    audit: "alert_rule.change",
    run: ({ input: { org, rule, ...input }, caller }, { alerts }) =>
      alerts.changeRule(org, rule, { input, actor: caller.actor }),
  }),
  endpoint({
    target: ["DELETE /app/v1/orgs/{org}/alerts/rules/{rule}", "POST /admin/v1/alerts/rules/{rule}/remove"],
    who: "alerts.change",
    summary: "Remove an alert rule",
    input: oneRule,
    output: done,
    audit: "alert_rule.remove",
    run: async ({ input, caller }, rooms) => {
      await rooms.alerts.removeRule(input.org, input.rule, caller.actor);
      return DONE;
    },
  }),
  endpoint({
    target: ["GET /app/v1/orgs/{org}/alerts/channels", "GET /admin/v1/alerts/channels"],
    who: "alerts.see",
    summary: "List an organization's alert channels, the dashboard's own list first",
    input: organization,
    output: shapes.alertChannelList,
    run: async ({ input: { org } }, rooms) => (await alertsOf(rooms, org)).channels(org),
  }),
  endpoint({
    target: ["POST /app/v1/orgs/{org}/alerts/channels", "POST /admin/v1/alerts/channels"],
    who: "alerts.change",
    summary: "Add a channel; only this response shows a webhook's signing secret",
    input: shapes.alertChannelInput.extend({ org: orgId }).meta({ id: "CreateAlertChannel" }),
    output: shapes.createdAlertChannel,
    status: 201,
    audit: "alert_channel.create",
    run: async ({ input: { org, ...channel }, caller }, rooms) =>
      (await alertsOf(rooms, org)).addChannel(org, channel, caller.actor),
  }),
  endpoint({
    target: [
      "DELETE /app/v1/orgs/{org}/alerts/channels/{channel}",
      "POST /admin/v1/alerts/channels/{channel}/remove",
    ],
    who: "alerts.change",
    summary: "Remove a channel, also from the rules that use it",
    input: oneChannel,
    output: done,
    audit: "alert_channel.remove",
    run: async ({ input, caller }, rooms) => {
      await rooms.alerts.removeChannel(input.org, input.channel, caller.actor);
      return DONE;
    },
  }),
  endpoint({
    target: [
      "POST /app/v1/orgs/{org}/alerts/channels/{channel}/test",
      "POST /admin/v1/alerts/channels/{channel}/test",
    ],
    who: "alerts.change",
    summary: "Send a test to a channel now; its delivery shows the outcome",
    input: oneChannel,
    output: shapes.alertDelivery,
    audit: "alert_channel.test",
    run: async ({ input, caller }, rooms) =>
      (await alertsOf(rooms, input.org)).sendTest(input.org, input.channel, caller.actor),
  }),
  endpoint({
    target: ["GET /app/v1/orgs/{org}/alerts/deliveries", "GET /admin/v1/alerts/deliveries"],
    who: "alerts.see",
    summary: "List the deliveries to an organization's channels, newest first",
    input: pageQuery.extend({ org: orgId }),
    output: shapes.alertDeliveryList,
    run: async ({ input: { org, ...asked } }, rooms) => (await alertsOf(rooms, org)).deliveries(org, asked),
  }),
  endpoint({
    target: [
      "GET /app/v1/orgs/{org}/alerts/deliveries/{delivery}",
      "GET /admin/v1/alerts/deliveries/{delivery}",
    ],
    who: "alerts.see",
    summary: "Show one message to one channel: whether it arrived, and if not, why",
    input: z.strictObject({ org: orgId, delivery: id }),
    output: shapes.alertDelivery,
    run: async ({ input: { org, delivery } }, rooms) => (await alertsOf(rooms, org)).delivery(org, delivery),
  }),
] as const;

/** Throws if there is no such organization: with a management key the caller names it. */
async function alertsOf({ operator, alerts }: KeyRooms, org: string): Promise<KeyRooms["alerts"]> {
  await operator.organizations.assertThere(org);
  return alerts;
}
