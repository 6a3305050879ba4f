// An order as shown to people and operators.
import type { OrderJson } from "../api/shapes/billing.ts";
import { formatUsd } from "../domain/money.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import type { PaymentOrder } from "../payments/order.ts";

/** Only open orders show where to pay. */
export const printOrder = (order: PaymentOrder): OrderJson => ({
  id: order.id,
  org: order.organizationId,
  purpose: order.purpose,
  driver: order.driver,
  amount_usd: formatUsd(order.amount),
  state: order.state,
  pay_url: order.state === "open" ? order.payUrl : null,
  reason: order.reason,
  created_by: order.createdBy,
  created_at: printTime(order.createdAtMs),
  ended_at: printTimeOrNull(order.endedAtMs),
});
