// What a dispute or a refund means for automatic charges: whoever took a payment back is not charged again for it by itself.
// Without this the credits that were taken back make the balance low, and the very card is charged a moment later.
import type { NanoUsd } from "../domain/money.ts";
import type { PaymentOrder } from "./order.ts";
import type { AutoTopUpPorts } from "./settle-order.ts";
import { actsBelow } from "./top-up-brake.ts";

type HoldPorts = Pick<AutoTopUpPorts, "orders" | "book" | "availableOf" | "nowMs">;

/**
 * Before the money is booked, once per reversal: automatic top-up waits for a person where the whole payment goes back, or where
 * what is left of the balance would be topped up. A part that leaves enough changes nothing.
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

/** Once it is booked: of several that go back at the same moment each left enough by itself. */
export async function holdWhatRunsLow(
  on: Omit<HoldPorts, "orders">,
  { organizationId }: PaymentOrder,
): Promise<void> {
  const wish = await on.book.find(organizationId);
  if (wish?.enabled !== true) return;
  const left = (await on.availableOf(organizationId)) ?? 0n;
  if (left < actsBelow(wish)) await on.book.hold(wish, on.nowMs());
}
