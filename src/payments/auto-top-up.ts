// Tops organizations up before they run dry, away from every request. One order is open per organization and carries
// the charge's idempotency key, so a try whose answer was lost is asked again and never charged twice.
import { type From, OF_ITSELF } from "../domain/actor.ts";
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { nextUtcMonth, utcMonth } from "../lib/clock.ts";
import { type AutoTopUp, type AutoTopUpBook, standsAs } from "./auto-top-up-book.ts";
import { type Charged, type PaymentDriver, ServiceFailure } from "./driver.ts";
import type { PaymentOrder } from "./order.ts";
import type { OrderBook } from "./order-book.ts";
import { creditOrder, type Till } from "./receive.ts";
import { actsBelow, brakeOf, LOOKS_BACK_MS } from "./top-up-brake.ts";

export interface AutoTopUpPorts {
  driver: PaymentDriver;
  orders: OrderBook;
  book: AutoTopUpBook;
  till: Pick<Till, "topUp">;
  availableOf(organizationId: string): Promise<NanoUsd | null>;
  nowMs(): number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** After a declined card; after the last one a person has to ask for another try. */
const RETRY_AFTER_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];
/**
 * The service forgets an idempotency key after a day: an order older than this is not charged any more, only looked up,
 * until it is known how its charge ended.
 */
const ORDER_LIVES_MS = 23 * HOUR_MS;
/** What failed for good and left no payment by then will leave none: another order takes its place, with another key. */
const VOID_AFTER_MS = 10 * MINUTE_MS;

const UNDER_WAY = {
  reason: "The last charge is still under way at the payment service; there is no other before it ends.",
  failures: 0,
};

/** One round over all organizations that may try now. One that fails does not keep the others waiting. */
export async function topUpWhatRunsLow(on: AutoTopUpPorts, failed: (error: unknown) => void): Promise<void> {
  for (const wish of await on.book.due(on.nowMs())) await topUpOne(on, wish, OF_ITSELF).catch(failed);
}

/** One organization's turn; nothing happens while enough is available. */
export async function topUpOne(on: AutoTopUpPorts, wish: AutoTopUp, from: From): Promise<void> {
  if (!(await runsLow(on, wish))) return;
  const method = await on.orders.method(wish.organizationId);
  if (method === null || method.driver !== on.driver.name) {
    await stop(on, wish, "There is no saved card. Add credits once with “keep this card” to save one.");
    return;
  }
  const open = await on.orders.openAutomatic(wish.organizationId);
  // Its key is forgotten, its event never came, or nobody wants that amount any more: how its charge stands decides, and
  // nothing else.
  if (open !== null && (isOld(on, open) || open.amount !== wish.amount))
    return await settling(on, { wish, order: open, from }, () => on.driver.standing(open, method));
  const taken = open === null ? await newOrder(on, wish) : { order: open, fresh: false };
  // A charge under way ends with an event.
  if (taken === null || taken.order.sessionId !== null) return;
  if (!(await mayCharge(on, wish, taken))) return;
  const { order } = taken;
  await settling(on, { wish, order, from }, () => on.driver.charge(order, method));
}

const isOld = (on: AutoTopUpPorts, { createdAtMs }: PaymentOrder): boolean =>
  on.nowMs() - createdAtMs >= ORDER_LIVES_MS;

interface Turn {
  wish: AutoTopUp;
  order: PaymentOrder;
  from: From;
}

async function settling(on: AutoTopUpPorts, turn: Turn, ask: () => Promise<Charged>): Promise<void> {
  try {
    await settle(on, { ...turn, charged: await ask() });
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    // The outcome is unknown: the order stays open, and the next try asks for the very same charge.
    await retryInAMinute(on, turn.wish, error.message);
  }
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
 * Whether a new order is still needed, within the month's cap and wanted; it ends here when not. Another gateway may have topped
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
    const reason = "It was topped up already.";
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
    return (await isWanted(on, wish, { order, fresh })) && (await on.orders.find(order.id))?.state === "open";
  if (!fresh) return false;
  const reason = `The monthly cap of $${formatUsd(monthlyCap).slice(0, -7)} is reached.`;
  await on.orders.ended(order.id, { state: "failed", reason }, nowMs);
  await note(on, wish, { reason, failures: 0, nextTryAtMs: nextUtcMonth(nowMs) });
  return false;
}

/** The last look before the card: whoever has switched it off, or changed it, since the round began is not charged. */
async function isWanted(
  on: AutoTopUpPorts,
  wish: AutoTopUp,
  { order, fresh }: { order: PaymentOrder; fresh: boolean },
): Promise<boolean> {
  if (standsAs(await on.book.find(wish.organizationId), wish)) return true;
  const reason = "Its terms were changed before the card was charged.";
  if (fresh) await on.orders.ended(order.id, { state: "expired", reason }, on.nowMs());
  return false;
}

async function settle(
  on: AutoTopUpPorts,
  { wish, order, from, charged }: Turn & { charged: Charged },
): Promise<void> {
  switch (charged.kind) {
    case "paid": {
      const { paymentId, money } = charged;
      if (money.amount !== order.amount || money.currency !== order.currency) {
        await stop(on, wish, `The service charged something else than order ${order.id}; ask the operator.`);
        return;
      }
      await creditOrder(on, order, { sessionId: paymentId, paymentId, from });
      await on.book.succeeded(wish.organizationId);
      return;
    }
    case "pending":
      await on.orders.opened(order.id, { sessionId: charged.paymentId, url: null });
      if (isOld(on, order)) await note(on, wish, { ...UNDER_WAY, nextTryAtMs: on.nowMs() + HOUR_MS });
      return;
    case "declined": {
      const ended = await on.orders.ended(order.id, { state: "failed", reason: charged.reason }, on.nowMs());
      if (ended) await noteDeclined(on, wish.organizationId, charged.reason);
      return;
    }
    case "void": {
      const nowMs = on.nowMs();
      if (nowMs - order.createdAtMs >= VOID_AFTER_MS)
        await on.orders.ended(order.id, { state: "failed", reason: charged.reason }, nowMs);
      await retryInAMinute(on, wish, charged.reason);
      return;
    }
  }
}

/** Counts a declined card and plans the next try; also called when an event brings the news. */
export async function noteDeclined(
  on: Pick<AutoTopUpPorts, "book" | "nowMs">,
  organizationId: string,
  reason: string,
): Promise<void> {
  const wish = await on.book.find(organizationId);
  if (wish === null) return;
  const failures = wish.failures + 1;
  const pauseMs = RETRY_AFTER_MS[failures - 1];
  const nextTryAtMs = pauseMs === undefined ? null : on.nowMs() + pauseMs;
  await note(on, wish, { reason, failures, nextTryAtMs });
}

const retryInAMinute = (on: AutoTopUpPorts, wish: AutoTopUp, reason: string): Promise<void> =>
  note(on, wish, { reason, failures: wish.failures, nextTryAtMs: on.nowMs() + MINUTE_MS });

const stop = (on: AutoTopUpPorts, wish: AutoTopUp, reason: string): Promise<void> =>
  note(on, wish, { reason, failures: wish.failures, nextTryAtMs: null });

const note = (
  on: Pick<AutoTopUpPorts, "book" | "nowMs">,
  wish: AutoTopUp,
  how: { reason: string; failures: number; nextTryAtMs: number | null },
): Promise<void> => on.book.failed(wish, how, on.nowMs());
