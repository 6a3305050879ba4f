// Credits granted and refunded by operators, and the payments behind purchases.
import { z } from "zod";
import { order } from "./billing.ts";
import { requestState } from "./requests.ts";
import { count, creditKind, line, listOf, page, personRef, time, usd, usdInput } from "./fields.ts";

/** For credits, orders and payment events. */
export const creditsQuery = z.strictObject({ ...page, org: z.string().max(60).optional() });
export const creditsCsvQuery = creditsQuery.pick({ org: true });
const credit = z.object({
  at: time,
  org: z.string(),
  org_name: z.string(),
  kind: creditKind,
  amount_usd: usd,
  source: z.string(),
  reference: z.string(),
  balance_after_usd: usd,
  by: personRef.nullable(),
});
export const creditList = listOf(credit);
export type CreditJson = z.output<typeof credit>;
export const grantInput = z.strictObject({
  org: z.string().max(60),
  amount_usd: usdInput,
  kind: z.enum(["grant", "purchase"]).default("grant"),
  reference: line(),
  reason: line(500),
});
/** `credited` is false if this reference was credited before: nothing changed. */
export const granted = z.object({
  org: z.string(),
  reference: z.string(),
  credited: z.boolean(),
  before_usd: usd,
  after_usd: usd,
});
/** The refundable part of a request: its charge minus earlier refunds. */
export const refundable = z.object({
  request: z.string(),
  org: z.string(),
  org_name: z.string(),
  model: z.string(),
  state: requestState,
  admitted_at: time,
  charge_usd: usd,
  refunded_usd: usd,
  left_usd: usd,
});
export const refundInput = z.strictObject({
  request: z.string().max(100),
  amount_usd: usdInput,
  reference: line(),
  reason: line(500),
});
/** `refunded` is false if this reference was refunded before: nothing changed. */
export const refunded = z.object({
  org: z.string(),
  request: z.string(),
  reference: z.string(),
  refunded: z.boolean(),
  before_usd: usd,
  after_usd: usd,
});
const orderRow = order.extend({ org_name: z.string() });
export const orderRowList = listOf(orderRow);
/** Payments seen; served by `payments`. */
const paymentEvent = z.object({
  id: z.string(),
  driver: z.string(),
  type: z.string(),
  org: z.string().nullable(),
  order: z.string().nullable(),
  outcome: z.string(),
  detail: z.string().nullable(),
  deliveries: count,
  received_at: time,
});
export const paymentEventList = listOf(paymentEvent);
const paymentEventRow = paymentEvent.extend({ org_name: z.string().nullable() });
export const paymentEventRowList = listOf(paymentEventRow);

export type PaymentEventJson = z.output<typeof paymentEvent>;
