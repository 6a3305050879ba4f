// Alerts of an organization: rules, the channels that they are told by, deliveries.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import * as shapes from "./shapes/alerts.ts";
import { pageQuery } from "./shapes/billing.ts";
import { DONE, done, id } from "./shapes/fields.ts";

const organization = z.strictObject({ org: id });
const oneRule = { org: id, rule: id };
const oneChannel = z.strictObject({ org: id, channel: id });

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
    target: "POST /app/v1/orgs/{org}/alerts/rules",
    who: "alerts.change",
    input: shapes.alertRuleInput.extend({ org: id }),
    output: shapes.alertRule,
    status: 201,
    audit: "alert_rule.create",
    run: ({ input: { org, ...rule }, caller }, rooms) => rooms.alerts.addRule(org, rule, caller.actor),
  }),
  endpoint({
    target: "PUT /app/v1/orgs/{org}/alerts/rules/{rule}",
    who: "alerts.change",
    input: shapes.changeAlertRuleInput.extend(oneRule),
    output: shapes.alertRule,
    audit: "alert_rule.change",
    run: ({ input: { org, rule, ...input }, caller }, rooms) =>
      rooms.alerts.changeRule(org, rule, { input, actor: caller.actor }),
  }),
  endpoint({
    target: "DELETE /app/v1/orgs/{org}/alerts/rules/{rule}",
    who: "alerts.change",
    input: z.strictObject(oneRule),
    output: done,
    audit: "alert_rule.remove",
    run: async ({ input, caller }, rooms) => {
      await rooms.alerts.removeRule(input.org, input.rule, caller.actor);
      return DONE;
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/alerts/channels",
    who: "alerts.see",
    input: organization,
    output: shapes.alertChannelList,
    run: ({ input }, rooms) => rooms.alerts.channels(input.org),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/alerts/channels",
    who: "alerts.change",
    input: shapes.alertChannelInput.extend({ org: id }),
    output: shapes.createdAlertChannel,
    status: 201,
    audit: "alert_channel.create",
    run: ({ input: { org, ...channel }, caller }, rooms) =>
      rooms.alerts.addChannel(org, channel, caller.actor),
  }),
  endpoint({
    target: "DELETE /app/v1/orgs/{org}/alerts/channels/{channel}",
    who: "alerts.change",
    input: oneChannel,
    output: done,
    audit: "alert_channel.remove",
    run: async ({ input, caller }, rooms) => {
      await rooms.alerts.removeChannel(input.org, input.channel, caller.actor);
      return DONE;
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/alerts/channels/{channel}/test",
    who: "alerts.change",
    input: oneChannel,
    output: shapes.alertDelivery,
    audit: "alert_channel.test",
    run: ({ input, caller }, rooms) => rooms.alerts.sendTest(input.org, input.channel, caller.actor),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/alerts/deliveries",
    who: "alerts.see",
    input: pageQuery.extend({ org: id }),
    output: shapes.alertDeliveryList,
    run: ({ input: { org, ...asked } }, rooms) => rooms.alerts.deliveries(org, asked),
  }),
] as const;
