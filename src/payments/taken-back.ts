// Keeps a payer who took a payment back from being charged for it again automatically. Without this, the
// reversal makes the balance low, and the same card is charged a moment later.
import type { NanoUsd } from "../domain/money.ts";
import type { PaymentOrder } from "./order.ts";
import type { AutoTopUpPorts } from "./settle-order.ts";
import { actsBelow } from "./top-up-brake.ts";

type HoldPorts = Pick<AutoTopUpPorts, "orders" | "book" | "availableOf" | "nowMs">;

/**
 * Runs before the reversal is booked, once per reversal: pauses automatic top-up if the whole payment is reversed, or
 * if the remaining balance would be topped up. A partial reversal that leaves enough changes nothing.
 */
export async function holdAutomatic(
  on: HoldPorts,
  order: PaymentOrder,
  { amount, reversalId }: { amount: NanoUsd; reversalId: string },
): Promise<void> {
  const wish = await on.book.find(order.organizationId);
  if (wish?.enabled !== true || (await on.orders.wasTakenBack(order, reversalId))) return;
  const left = ((await on.availableOf(order.organizationId)) ?? 0n) - amount;
  if (amount < order.amount && left >= actsBelow(wish)) return;
  await on.book.hold(wish, on.nowMs());
}

/**
 * Runs once the reversal is booked: of several simultaneous reversals, each may have left enough on its own.
 */
export async function holdWhatRunsLow(
  on: Omit<HoldPorts, "orders">,
  { organizationId }: PaymentOrder,
): Promise<void> {
  const wish = await on.book.find(organizationId);
  if (wish?.enabled !== true) return;
  const left = (await on.availableOf(organizationId)) ?? 0n;
  if (left < actsBelow(wish)) await on.book.hold(wish, on.nowMs());
}
