// Alerts and the audit log.
import { z } from "zod";
import { ALERT_KINDS } from "../../domain/alert-kinds.ts";
import { count, line, listOf, page, time, usdInput, version, window } from "./fields.ts";

const alertKind = z.enum(ALERT_KINDS);
/** `domain/alert-kinds.ts` says which of the three a kind needs. */
const condition = {
  kind: alertKind,
  amount_usd: usdInput.nullable().default(null),
  percent: z.int().min(1).max(100).nullable().default(null),
  days: z.int().min(1).max(365).nullable().default(null),
  /** Only this key; null means all. */
  key: z.string().max(60).nullable().default(null),
};
export const alertRuleInput = z.strictObject({
  ...condition,
  channels: z.array(z.string()).max(10),
  on: z.boolean(),
});
export const changeAlertRuleInput = z.strictObject({ ...alertRuleInput.shape, version });
export const alertRule = z.object({
  id: z.string(),
  ...condition,
  channels: z.array(z.string()),
  on: z.boolean(),
  /** True while the condition holds: one message per crossing. */
  firing: z.boolean(),
  last_fired_at: time.nullable(),
  version,
});
export const alertRules = listOf(alertRule);
/** `keys`: the names of the keys in the rules. */
export const alertRuleList = alertRules.extend({
  keys: z.array(z.object({ id: z.string(), name: z.string() })),
});

export const alertChannelInput = z.strictObject({
  kind: z.enum(["webhook", "mail", "dashboard"]),
  name: line(),
  /** An https URL, or a member's mail address; null for dashboard. */
  target: z.string().max(2000).nullable().default(null),
});
const alertChannel = z.object({
  id: z.string(),
  kind: z.enum(["webhook", "mail", "dashboard"]),
  name: z.string(),
  target: z.string().nullable(),
  created_at: time,
});
/** `mail`: true if this gateway sends mail, so that such a channel can be added. */
export const alertChannelList = listOf(alertChannel).extend({ mail: z.boolean() });
/** `secret` signs deliveries (Standard Webhooks); shown once, null for other kinds. */
export const createdAlertChannel = alertChannel.extend({ secret: z.string().nullable() });

export const alertDelivery = z.object({
  id: z.string(),
  at: time,
  rule: z.string().nullable(),
  channel: z.string(),
  kind: z.union([alertKind, z.literal("test")]),
  text: z.string(),
  state: z.enum(["waiting", "delivered", "failed"]),
  tries: count,
  /** The status of the last try, in HTTP or SMTP. */
  status: z.int().nullable(),
  /** Why the last try did not deliver it. */
  reason: z.string().nullable(),
  next_try_at: time.nullable(),
});
export const alertDeliveryList = listOf(alertDelivery);

export const auditQuery = z.strictObject({
  ...page,
  ...window,
  actor: z.string().max(100).optional(),
  action: z.string().max(60).optional(),
  target: z.string().max(400).optional(),
  /** Only the line with this id. */
  line: z.string().max(60).optional(),
  /** Operators only. */
  org: z.string().max(60).optional(),
});
const auditRow = z.object({
  id: z.string(),
  at: time,
  /** A person, a management key or the gateway itself. */
  actor: z.object({ id: z.string(), name: z.string().nullable() }),
  action: z.string(),
  org: z.string().nullable(),
  org_name: z.string().nullable(),
  target: z.string(),
  /** Its current name; null if it has none or no longer exists. */
  target_name: z.string().nullable(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  /**
   * Where the call came from; null for the gateway's own actions. Members see it only for their own people:
   * the locations of operators and their services stay private.
   */
  address: z.string().nullable(),
  /** The call's `x-request-id`. */
  request_id: z.string().nullable(),
});
export const auditList = listOf(auditRow);

export type AlertRuleJson = z.output<typeof alertRule>;
export type AlertChannelJson = z.output<typeof alertChannel>;
export type AlertDeliveryJson = z.output<typeof alertDelivery>;
