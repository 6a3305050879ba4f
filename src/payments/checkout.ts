// Lets a person add credits: creates our order first, then the service's page for it. The page does not prove
// that money arrived; only an event does (receive.ts).
import type { NanoUsd } from "../domain/money.ts";
import type { PaymentDriver } from "./driver.ts";
import { CURRENCY, NANO_PER_CENT, type PaymentOrder } from "./order.ts";
import type { Statement } from "../store/sql.ts";
import type { OrderBook } from "./order-book.ts";

export interface CheckoutPorts {
  driver: PaymentDriver;
  orders: OrderBook;
  nowMs(): number;
  limits: { minimum: NanoUsd; maximum: NanoUsd };
}

export interface CheckoutAsk {
  organizationId: string;
  amount: NanoUsd;
  createdBy: string;
  /** The form's idempotency key: one form creates one order. */
  formKey: string | null;
  keepCard: boolean;
  /** The billing page, without a query. */
  returnUrl: string;
  /** Written together with the order: who asked for it. */
  told: (orderId: string) => readonly Statement[];
}

export type Checkout =
  | { kind: "ordered"; order: PaymentOrder }
  | { kind: "wrong_amount"; message: string }
  | { kind: "form_reused" }
  | { kind: "too_many_begun" }
  | { kind: "unknown_organization" };

/** Throws `ServiceFailure` if the service did not respond; the same form may be sent again. */
export async function startCheckout(on: CheckoutPorts, ask: CheckoutAsk): Promise<Checkout> {
  const wrong = wrongAmount(on, ask.amount);
  if (wrong !== null) return { kind: "wrong_amount", message: wrong };
  const taken = await on.orders.take(
    { ...ask, driver: on.driver.name, purpose: "checkout", formKey: ask.formKey },
    on.nowMs(),
    ask.told,
  );
  if (taken === null) {
    const full = await on.orders.isFull(ask.organizationId, on.nowMs());
    return { kind: full ? "too_many_begun" : "unknown_organization" };
  }
  const { order } = taken;
  if (order.amount !== ask.amount || order.currency !== CURRENCY) return { kind: "form_reused" };
  if (order.sessionId !== null || order.state !== "open") return { kind: "ordered", order };
  const opened = await on.driver.open(order, {
    paidUrl: `${ask.returnUrl}?order=${order.id}`,
    leftUrl: ask.returnUrl,
    keepCard: ask.keepCard,
  });
  if (opened.kind === "by_hand") return { kind: "ordered", order };
  await on.orders.opened(order.id, opened);
  return { kind: "ordered", order: { ...order, sessionId: opened.sessionId, payUrl: opened.url } };
}

function wrongAmount({ limits }: CheckoutPorts, amount: NanoUsd): string | null {
  const { minimum, maximum } = limits;
  if (amount % NANO_PER_CENT !== 0n) return "must be whole cents";
  if (amount < minimum) return `must be at least $${minimum / 1_000_000_000n}`;
  if (amount > maximum) return `must be at most $${maximum / 1_000_000_000n}`;
  return null;
}
