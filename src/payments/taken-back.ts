// What a dispute or a refund means for automatic charges: whoever took a payment back is not charged again for it by itself.
// Without this the credits that were taken back make the balance low, and the very card is charged a moment later.
import type { NanoUsd } from "../domain/money.ts";
import type { PaymentOrder } from "./order.ts";
import { type AutoTopUpPorts, note } from "./settle-order.ts";
import { actsBelow } from "./top-up-brake.ts";

const REASON =
  "A payment was disputed or paid back. Nothing is charged by itself until somebody asks for the next try.";

/**
 * Before the money is booked, once per reversal: automatic top-up waits for a person where the whole payment goes back, or where
 * what is left of the balance would be topped up. A part that leaves enough changes nothing.
 */
export async function holdAutomatic(
  on: Pick<AutoTopUpPorts, "orders" | "book" | "availableOf" | "nowMs">,
  order: PaymentOrder,
  { amount, reversalId }: { amount: NanoUsd; reversalId: string },
): Promise<void> {
  const wish = await on.book.find(order.organizationId);
  if (wish?.enabled !== true || (await on.orders.wasTakenBack(order, reversalId))) return;
  const left = ((await on.availableOf(order.organizationId)) ?? 0n) - amount;
  if (amount < order.amount && left >= actsBelow(wish)) return;
  await note(on, wish, { reason: REASON, failures: wish.failures, nextTryAtMs: null });
}
