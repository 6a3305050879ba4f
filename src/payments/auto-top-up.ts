// Tops organizations up before they run dry, outside of any request. Each organization has one open order,
// which carries the charge's idempotency key, so a try whose response was lost is repeated without charging
// twice. A round takes as long as the payment service takes, so terms and card are checked again right before
// the charge.
import { type From, OF_ITSELF } from "../domain/actor.ts";
import { MINUTE_MS } from "../domain/durations.ts";
import { formatUsd } from "../domain/money.ts";
import { nextUtcMonth, utcMonth } from "../lib/clock.ts";
import type { AutoTopUp } from "./auto-top-up-book.ts";
import type { PaymentMethod, PaymentOrder } from "./order.ts";
import { type AutoTopUpPorts, isOld, note, settling, withdraw } from "./settle-order.ts";
import { actsBelow, brakeOf, LOOKS_BACK_MS } from "./top-up-brake.ts";

const NO_CARD = {
  reason: "There is no saved card. Add credits once with “keep this card” to save one.",
  nextTryAtMs: null,
};

/** A reversed payment pauses automatic top-up within this time (`taken-back.ts`). */
const SAID_WITHIN_MS = MINUTE_MS;

/** Runs one round over all organizations that may try now. A failure in one does not delay the others. */
export async function topUpWhatRunsLow(on: AutoTopUpPorts, failed: (error: unknown) => void): Promise<void> {
  for (const wish of await on.book.due(on.nowMs()))
    await topUpOne(on, wish, OF_ITSELF, { unasked: true }).catch(failed);
}

/**
 * Runs one organization's turn; charges nothing while enough is available. `unasked`: no person requested
 * this try.
 */
export async function topUpOne(
  on: AutoTopUpPorts,
  wish: AutoTopUp,
  from: From,
  { unasked = false } = {},
): Promise<void> {
  const { organizationId } = wish;
  if (!wish.enabled) return await tidyUp(on, wish, from);
  if (!(await runsLow(on, wish))) return;
  // The balance may be low because a payment was reversed a moment ago, and the gateway that books the reversal may not
  // have recorded the pause yet.
  if (unasked && (await on.orders.tookBackSince(on.driver.name, organizationId, on.nowMs() - SAID_WITHIN_MS)))
    return;
  const method = await on.orders.method(organizationId);
  if (method === null || method.driver !== on.driver.name) {
    const { failures } = wish;
    await note(on, wish, { ...NO_CARD, failures, methodId: method?.methodId ?? null });
    return;
  }
  const open = await on.orders.openAutomatic(organizationId);
  // Its idempotency key has expired or its event never came: only the charge's status at the service decides.
  if (open !== null && isOld(on, open))
    return await settling(on, { wish, order: open, from, method }, () => on.driver.standing(open, method));
  // A charge under way is ended by an event.
  if (open !== null && open.sessionId !== null) return;
  const isOfBefore = open !== null && open.amount !== wish.amount;
  if (isOfBefore && !(await withdraw(on, { wish, order: open, from, method }))) return;
  const taken = open === null || isOfBefore ? await newOrder(on, wish) : { order: open, fresh: false };
  if (taken === null || taken.order.sessionId !== null || taken.order.amount !== wish.amount) return;
  if (!(await mayCharge(on, wish, taken))) return;
  const { order } = taken;
  if (await isInForce(on, wish, method))
    await settling(on, { wish, order, from, method }, () => on.driver.charge(order, method));
  else await withdraw(on, { wish, order, from, method });
}

/**
 * Cleans up after automatic top-up was switched off: an open order is credited if it was charged, otherwise
 * withdrawn.
 */
async function tidyUp(on: AutoTopUpPorts, wish: AutoTopUp, from: From): Promise<void> {
  const order = await on.orders.openAutomatic(wish.organizationId);
  if (order === null || order.sessionId !== null) return;
  const method = await on.orders.method(wish.organizationId);
  // Switched on again in the meantime: the next round handles it.
  if ((await on.book.find(wish.organizationId))?.enabled !== false) return;
  if (await withdraw(on, { wish, order, from, method })) await on.book.succeeded(wish.organizationId);
}

/** True if the terms and the card are unchanged. */
async function isInForce(on: AutoTopUpPorts, wish: AutoTopUp, card: PaymentMethod): Promise<boolean> {
  const now = await on.orders.method(wish.organizationId);
  return now?.methodId === card.methodId && (await on.book.isInForce(wish, on.nowMs()));
}

async function runsLow(on: AutoTopUpPorts, wish: AutoTopUp): Promise<boolean> {
  const available = await on.availableOf(wish.organizationId);
  return available !== null && available < actsBelow(wish);
}

/** The first instant of the UTC month, in milliseconds. */
export const monthStartOf = (nowMs: number): number => Date.parse(`${utcMonth(nowMs)}-01`);

function newOrder(
  on: AutoTopUpPorts,
  { organizationId, amount }: AutoTopUp,
): Promise<{ order: PaymentOrder; fresh: boolean } | null> {
  const wanted = { organizationId, driver: on.driver.name, purpose: "auto_top_up", amount } as const;
  return on.orders.take({ ...wanted, createdBy: "auto top-up", formKey: null }, on.nowMs());
}

/**
 * True if a new order is still needed and fits the monthly cap; otherwise ends it here. Another gateway may
 * have topped up since the balance was read. Its credit was booked before its order closed, and this order
 * could open only after that, so reading the balance now shows it.
 */
async function mayCharge(
  on: AutoTopUpPorts,
  wish: AutoTopUp,
  { order, fresh }: { order: PaymentOrder; fresh: boolean },
): Promise<boolean> {
  const { organizationId, monthlyCap } = wish;
  const nowMs = on.nowMs();
  if (!(await runsLow(on, wish))) {
    // An order that was open before may be in the middle of another gateway's charge.
    const reason = "It was already topped up.";
    if (fresh) await on.orders.ended(order.id, { state: "expired", reason }, nowMs);
    return false;
  }
  const brake = brakeOf(await on.orders.automaticBeside(order, nowMs - LOOKS_BACK_MS), nowMs);
  if (brake !== null) {
    if (!fresh) return false;
    await on.orders.ended(order.id, { state: "failed", reason: brake.reason }, nowMs);
    await note(on, wish, { reason: brake.reason, failures: 0, nextTryAtMs: brake.untilMs });
    return false;
  }
  // An open order counts toward the sum, and only one is open at a time, so every gateway sees the same sum.
  // Whether the order has ended in the meantime is checked afterwards.
  const asked = await on.orders.automaticSince(organizationId, monthStartOf(nowMs));
  if (monthlyCap === null || asked <= monthlyCap)
    return fresh || (await on.orders.find(order.id))?.state === "open";
  if (!fresh) return false;
  const reason = `The monthly cap of $${formatUsd(monthlyCap).slice(0, -7)} is reached.`;
  await on.orders.ended(order.id, { state: "failed", reason }, nowMs);
  await note(on, wish, { reason, failures: 0, nextTryAtMs: nextUtcMonth(nowMs) });
  return false;
}
