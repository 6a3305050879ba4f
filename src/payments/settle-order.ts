// Applies the outcome of an automatic order: credited, waiting or ended, and records the reason on the terms
// that it was made for. An order whose terms are no longer in force is withdrawn.
import { HOUR_MS, MINUTE_MS } from "../domain/durations.ts";
import type { From } from "../domain/actor.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { AutoTopUp, AutoTopUpBook, AutoTopUpTerms, TryFailed } from "./auto-top-up-book.ts";
import { type Charged, type PaymentDriver, ServiceFailure } from "./driver.ts";
import type { PaymentMethod, PaymentOrder } from "./order.ts";
import type { OrderBook } from "./order-book.ts";
import { creditOrder, type Till } from "./receive.ts";

export interface AutoTopUpPorts {
  driver: PaymentDriver;
  orders: OrderBook;
  book: AutoTopUpBook;
  till: Pick<Till, "topUp">;
  availableOf(organizationId: string): Promise<NanoUsd | null>;
  nowMs(): number;
}

/** Delays after a declined card; after the last one a person has to ask for another try. */
const RETRY_AFTER_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];
/**
 * The service forgets an idempotency key after a day: an older order is only looked up, not charged, until
 * the outcome of its charge is known.
 */
const ORDER_LIVES_MS = 23 * HOUR_MS;
/**
 * A charge that failed permanently and left no payment within this time will leave none: another order, with
 * another key, replaces it.
 */
const VOID_AFTER_MS = 10 * MINUTE_MS;

const UNDER_WAY = {
  reason:
    "The last charge is still in progress at the payment service; another one starts only after it has ended.",
  failures: 0,
};
const WITHDRAWN = "Its terms or its card were changed before it was charged.";

/** True if the order is too old to be charged and is only looked up: its idempotency key expires soon. */
export const isOld = (on: AutoTopUpPorts, { createdAtMs }: PaymentOrder): boolean =>
  on.nowMs() - createdAtMs >= ORDER_LIVES_MS;
const isVoid = (on: AutoTopUpPorts, { createdAtMs }: PaymentOrder): boolean =>
  on.nowMs() - createdAtMs >= VOID_AFTER_MS;

interface Turn {
  wish: AutoTopUp;
  order: PaymentOrder;
  /** The card on file when the turn began. */
  method: PaymentMethod | null;
  from: From;
}

/** Asks for the outcome and records it; if it is unknown, the order stays open for the next try. */
export async function settling(on: AutoTopUpPorts, turn: Turn, ask: () => Promise<Charged>): Promise<void> {
  const charged = await answerOf(on, turn.wish, ask);
  if (charged !== null) await settle(on, { ...turn, charged });
}

/** Null while the outcome is unknown: the order stays open, and the next try repeats the same call. */
async function answerOf<T>(on: AutoTopUpPorts, wish: AutoTopUp, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await retryInAMinute(on, wish, error.message);
    return null;
  }
}

/**
 * Ends an order whose terms or card are no longer in force: credits what was charged, otherwise makes sure
 * that no gateway can charge it any more. True if it ended uncharged; nothing else may be charged before
 * that.
 */
export async function withdraw(on: AutoTopUpPorts, turn: Turn): Promise<boolean> {
  const { wish, order, method } = turn;
  if (order.driver !== on.driver.name) return false;
  const charged = await answerOf(on, wish, () =>
    isOld(on, order) ? on.driver.standing(order, method) : on.driver.withdraw(order, method),
  );
  if (charged === null) return false;
  const { kind } = charged;
  if (kind === "paid" || kind === "pending" || (kind === "void" && !isVoid(on, order))) {
    await settle(on, { ...turn, charged });
    return false;
  }
  const how =
    kind === "declined"
      ? ({ state: "failed", reason: charged.reason } as const)
      : ({ state: "expired", reason: WITHDRAWN } as const);
  await on.orders.ended(order.id, how, on.nowMs());
  return true;
}

async function settle(
  on: AutoTopUpPorts,
  { wish, order, from, method, charged }: Turn & { charged: Charged },
): Promise<void> {
  switch (charged.kind) {
    case "paid": {
      const { paymentId, money } = charged;
      if (money.amount !== order.amount || money.currency !== order.currency) {
        await stop(
          on,
          wish,
          `The payment service charged something other than order ${order.id}. Ask the operator.`,
        );
        return;
      }
      await creditOrder(on, order, { sessionId: paymentId, paymentId, from }, () =>
        on.book.succeeded(wish.organizationId),
      );
      return;
    }
    case "pending":
      await on.orders.opened(order.id, { sessionId: charged.paymentId, url: null });
      if (isOld(on, order)) await note(on, wish, { ...UNDER_WAY, nextTryAtMs: on.nowMs() + HOUR_MS });
      return;
    case "declined": {
      const ended = await on.orders.ended(order.id, { state: "failed", reason: charged.reason }, on.nowMs());
      if (ended) await noteDeclined(on, wish, { reason: charged.reason, card: method });
      return;
    }
    case "void": {
      const nowMs = on.nowMs();
      if (isVoid(on, order))
        await on.orders.ended(order.id, { state: "failed", reason: charged.reason }, nowMs);
      await retryInAMinute(on, wish, charged.reason);
      return;
    }
  }
}

/**
 * Handles an event that says an order's charge failed: counts it only if the terms in force have the same
 * amount and the same card.
 */
export async function orderDeclined(
  on: Pick<AutoTopUpPorts, "book" | "orders" | "nowMs">,
  order: PaymentOrder,
  reason: string,
): Promise<void> {
  const wish = await on.book.find(order.organizationId);
  const card = await on.orders.method(order.organizationId);
  const isAnother = card !== null && card.savedAtMs > order.createdAtMs;
  if (wish?.amount === order.amount && !isAnother) await noteDeclined(on, wish, { reason, card });
}

/** Counts a declined card and plans the next try. */
async function noteDeclined(
  on: Pick<AutoTopUpPorts, "book" | "nowMs">,
  terms: AutoTopUpTerms,
  { reason, card }: { reason: string; card: PaymentMethod | null },
): Promise<void> {
  const failures = ((await on.book.find(terms.organizationId))?.failures ?? 0) + 1;
  const pauseMs = RETRY_AFTER_MS[failures - 1];
  const nextTryAtMs = pauseMs === undefined ? null : on.nowMs() + pauseMs;
  await note(on, terms, { reason, failures, nextTryAtMs, methodId: card?.methodId ?? null });
}

const retryInAMinute = (on: AutoTopUpPorts, wish: AutoTopUp, reason: string): Promise<void> =>
  note(on, wish, { reason, failures: wish.failures, nextTryAtMs: on.nowMs() + MINUTE_MS });

const stop = (on: AutoTopUpPorts, wish: AutoTopUp, reason: string): Promise<void> =>
  note(on, wish, { reason, failures: wish.failures, nextTryAtMs: null });

export const note = (
  on: Pick<AutoTopUpPorts, "book" | "nowMs">,
  terms: AutoTopUpTerms,
  how: TryFailed,
): Promise<void> => on.book.failed(terms, how, on.nowMs());
