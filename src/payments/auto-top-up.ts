// Tops organizations up before they run dry, away from every request. One order is open per organization and carries
// the charge's idempotency key, so a try whose answer was lost is asked again and never charged twice. A round takes as
// long as the service takes: whether terms and card still are what it read is looked at last, right before the charge.
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

/** Within this time of a payment taken back it is said that automatic top-up waits for a person (`taken-back.ts`). */
const SAID_WITHIN_MS = MINUTE_MS;

/** One round over all organizations that may try now. One that fails does not keep the others waiting. */
export async function topUpWhatRunsLow(on: AutoTopUpPorts, failed: (error: unknown) => void): Promise<void> {
  for (const wish of await on.book.due(on.nowMs()))
    await topUpOne(on, wish, OF_ITSELF, { unasked: true }).catch(failed);
}

/** One organization's turn; nothing is charged while enough is available. `unasked`: nobody has asked for it just now. */
export async function topUpOne(
  on: AutoTopUpPorts,
  wish: AutoTopUp,
  from: From,
  { unasked = false } = {},
): Promise<void> {
  const { organizationId } = wish;
  if (!wish.enabled) return await tidyUp(on, wish, from);
  if (!(await runsLow(on, wish))) return;
  // The balance may be low by what went back a moment ago, and whoever books that at another gateway has yet to say so.
  if (unasked && (await on.orders.tookBackSince(on.driver.name, organizationId, on.nowMs() - SAID_WITHIN_MS)))
    return;
  const method = await on.orders.method(organizationId);
  if (method === null || method.driver !== on.driver.name) {
    const { failures } = wish;
    await note(on, wish, { ...NO_CARD, failures, methodId: method?.methodId ?? null });
    return;
  }
  const open = await on.orders.openAutomatic(organizationId);
  // Its key is forgotten, or its event never came: how its charge stands decides, and nothing else.
  if (open !== null && isOld(on, open))
    return await settling(on, { wish, order: open, from, method }, () => on.driver.standing(open, method));
  // A charge under way ends with an event.
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

/** Where it was switched off: an order that is still open is credited when it was charged, and else never will be. */
async function tidyUp(on: AutoTopUpPorts, wish: AutoTopUp, from: From): Promise<void> {
  const order = await on.orders.openAutomatic(wish.organizationId);
  if (order === null || order.sessionId !== null) return;
  const method = await on.orders.method(wish.organizationId);
  // Switched on again since: the next round sees to it.
  if ((await on.book.find(wish.organizationId))?.enabled !== false) return;
  if (await withdraw(on, { wish, order, from, method })) await on.book.succeeded(wish.organizationId);
}

/** Whether the terms are still these, and the card this one. */
async function isInForce(on: AutoTopUpPorts, wish: AutoTopUp, card: PaymentMethod): Promise<boolean> {
  const now = await on.orders.method(wish.organizationId);
  return now?.methodId === card.methodId && (await on.book.isInForce(wish, on.nowMs()));
}

async function runsLow(on: AutoTopUpPorts, wish: AutoTopUp): Promise<boolean> {
  const available = await on.availableOf(wish.organizationId);
  return available !== null && available < actsBelow(wish);
}

/** The first instant of the UTC month, milliseconds. */
export const monthStartOf = (nowMs: number): number => Date.parse(`${utcMonth(nowMs)}-01`);

function newOrder(
  on: AutoTopUpPorts,
  { organizationId, amount }: AutoTopUp,
): Promise<{ order: PaymentOrder; fresh: boolean } | null> {
  const wanted = { organizationId, driver: on.driver.name, purpose: "auto_top_up", amount } as const;
  return on.orders.take({ ...wanted, createdBy: "auto top-up", formKey: null }, on.nowMs());
}

/**
 * Whether a new order is still needed and within the month's cap; it ends here when not. Another gateway may have topped
 * up since the balance was read: its credit was there before its order closed, and only then could this one be opened,
 * so a look from here on tells.
 */
async function mayCharge(
  on: AutoTopUpPorts,
  wish: AutoTopUp,
  { order, fresh }: { order: PaymentOrder; fresh: boolean },
): Promise<boolean> {
  const { organizationId, monthlyCap } = wish;
  const nowMs = on.nowMs();
  if (!(await runsLow(on, wish))) {
    // One that was open before may be somebody's, in the midst of its charge.
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
  // The order counts itself while it is open, and one is open at a time: so whoever asks sees the same sum. Whether it
  // was ended meanwhile is asked afterwards.
  const asked = await on.orders.automaticSince(organizationId, monthStartOf(nowMs));
  if (monthlyCap === null || asked <= monthlyCap)
    return fresh || (await on.orders.find(order.id))?.state === "open";
  if (!fresh) return false;
  const reason = `The monthly cap of $${formatUsd(monthlyCap).slice(0, -7)} is reached.`;
  await on.orders.ended(order.id, { state: "failed", reason }, nowMs);
  await note(on, wish, { reason, failures: 0, nextTryAtMs: nextUtcMonth(nowMs) });
  return false;
}
