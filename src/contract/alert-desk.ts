// What the dashboard asks of alerts, as one port; `src/operator/alerts.ts` answers. Shapes are those of `/app/v1`
// (app/alerts.ts). An id of another organization is an id that does not exist.
import type { Actor } from "./actor.ts";
import type { z } from "zod";
import type * as alerts from "./app/alerts.ts";
import type { ListAsk, ListOf } from "./payment-desk.ts";

export type AlertRuleJson = z.output<typeof alerts.alertRule>;
export type AlertChannelJson = z.output<typeof alerts.alertChannel>;
export type CreatedAlertChannelJson = z.output<typeof alerts.createdAlertChannel>;
export type AlertDeliveryJson = z.output<typeof alerts.alertDelivery>;
type RuleInput = z.output<typeof alerts.alertRuleInput>;
type RuleChange = z.output<typeof alerts.changeAlertRuleInput>;

export interface AlertDesk {
  rules(org: string): Promise<ListOf<AlertRuleJson>>;
  addRule(org: string, input: RuleInput, actor: Actor): Promise<AlertRuleJson>;
  changeRule(org: string, rule: string, change: { input: RuleChange; actor: Actor }): Promise<AlertRuleJson>;
  removeRule(org: string, rule: string, actor: Actor): Promise<void>;
  /** The dashboard's own list comes first; it is always there. */
  channels(org: string): Promise<ListOf<AlertChannelJson>>;
  /** The only answer that carries the signing secret. */
  addChannel(
    org: string,
    input: z.output<typeof alerts.alertChannelInput>,
    actor: Actor,
  ): Promise<CreatedAlertChannelJson>;
  removeChannel(org: string, channel: string, actor: Actor): Promise<void>;
  sendTest(org: string, channel: string, actor: Actor): Promise<AlertDeliveryJson>;
  deliveries(org: string, ask: ListAsk): Promise<ListOf<AlertDeliveryJson>>;
}
