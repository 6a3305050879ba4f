// Judges events of a payment service against our order, credits or reverses in the ledger's own transaction
// under the payment's id, and only then responds (money.md §5, faults 67 and 68). Every step can be repeated:
// after a crash anywhere before the response the service delivers again, and the ledger credits one reference
// once.
import type { Actor, From } from "../domain/actor.ts";
import type { NanoUsd } from "../domain/money.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { PaymentDriver, PaymentEvent } from "./driver.ts";
import type { EventLog, EventOutcome } from "./event-log.ts";
import type { PaymentOrder } from "./order.ts";
import type { Statement } from "../store/sql.ts";
import type { OrderBook } from "./order-book.ts";

/** The part of the ledger that payments use. */
export interface Till {
  topUp(
    topUp: {
      organizationId: string;
      amount: NanoUsd;
      kind: "purchase";
      source: string;
      externalId: string;
    },
    actor: Actor,
  ): Promise<{ kind: "credited" | "repeated" | "conflict" | "unknown_organization" }>;
  reverse(
    reversal: {
      organizationId: string;
      amount: NanoUsd;
      kind: "chargeback";
      target: string;
      source: string;
      externalId: string;
    },
    actor: Actor,
  ): Promise<{
    kind: "reversed" | "repeated" | "conflict" | "exceeds" | "unknown_request" | "unknown_organization";
  }>;
}

export interface ReceivePorts {
  driver: PaymentDriver;
  orders: OrderBook;
  events: EventLog;
  till: Till;
  nowMs(): number;
  automatic: {
    /** An automatic order was not paid. */
    declined(order: PaymentOrder, reason: string): Promise<void>;
    /** An automatic order was paid after all, or a card was saved by a payment made at `paidAtMs`. */
    mayTryAgain(organizationId: string, paidAtMs?: number): Promise<void>;
    /** This much of an order's payment is about to be reversed. */
    takingBack(order: PaymentOrder, of: { amount: NanoUsd; reversalId: string }): Promise<void>;
    /** It was reversed. */
    tookBack(order: PaymentOrder): Promise<void>;
  };
}

export interface WebhookDelivery {
  body: Uint8Array;
  signature: string | null;
  from: From;
}

export interface Verdict {
  outcome: EventOutcome;
  detail: string | null;
  order: PaymentOrder | null;
}

/** An event with the call that delivered it. */
type Delivered = PaymentEvent & { from: From };
type Paid = Extract<Delivered, { kind: "paid" }>;
type Moved = Extract<Delivered, { kind: "taken_back" | "returned" }>;

/**
 * Reads, judges and books one delivery, and records the outcome. Throws `WebhookRefusal` for untrusted
 * deliveries.
 */
export async function receive(on: ReceivePorts, { from, ...delivery }: WebhookDelivery): Promise<Verdict> {
  const event = await on.driver.read({ ...delivery, nowMs: on.nowMs() });
  const verdict = await judge(on, { ...event, from });
  const { outcome, detail, order } = verdict;
  await on.events.note(
    {
      driver: on.driver.name,
      id: event.id,
      type: event.type,
      organizationId: order?.organizationId ?? null,
      orderId: order?.id ?? null,
      outcome,
      detail,
    },
    on.nowMs(),
  );
  return verdict;
}

function judge(on: ReceivePorts, event: Delivered): Promise<Verdict> | Verdict {
  switch (event.kind) {
    case "paid":
      return paid(on, event);
    case "not_paid":
      return notPaid(on, event);
    case "taken_back":
    case "returned":
      return moved(on, event);
    case "other":
      return { outcome: "ignored", detail: null, order: null };
  }
}

async function paid(on: ReceivePorts, event: Paid): Promise<Verdict> {
  if (event.orderId?.startsWith("ord_") !== true) return ignored("not an order of this gateway", null);
  const order = await on.orders.find(event.orderId);
  if (order === null) return refused(`there is no order ${event.orderId}`, null);
  // A checkout page also creates a payment with its own event; only the page's event credits.
  if (event.via === "charge" && order.purpose === "checkout")
    return ignored("the payment of its checkout page is what credits it", order);
  const contradiction = contradictionOf(event, order, on.driver.name);
  if (contradiction !== null) return refused(contradiction, order);
  const outcome = await creditOrder(on, order, event, async () => {
    if (order.purpose === "auto_top_up") await on.automatic.mayTryAgain(order.organizationId);
    if (event.keepCard && event.paymentId !== null)
      await keepCard(on, order, event.paymentId, event.paidAtMs);
  });
  if (outcome === "refused") return refused("its reference was credited with another amount", order);
  return { outcome, detail: null, order };
}

function contradictionOf(event: Paid, order: PaymentOrder, driver: string): string | null {
  const { money, sessionId, organizationId } = event;
  if (order.driver !== driver) return `the order belongs to the driver ${order.driver}`;
  if (organizationId !== order.organizationId) return "the payment names another organization than its order";
  if (order.sessionId !== null && order.sessionId !== sessionId) return "the order has another session";
  if (order.sessionId === null && order.purpose === "checkout") return "the order has no session yet";
  if (money.currency !== order.currency) return `paid in ${money.currency}, ordered in ${order.currency}`;
  if (money.amount !== order.amount)
    return `paid ${money.amount}, ordered ${order.amount} (billionths of a dollar)`;
  return null;
}

/**
 * Credits an order. One transaction writes the top-up's row and its ledger entry; marking the order as
 * credited follows and may repeat. `goesWithIt` runs in between: again after a crash, but not once the order
 * is marked, because somebody may since have changed what it changes. `told` is written when the order is
 * first marked as credited.
 */
export async function creditOrder(
  on: Pick<ReceivePorts, "orders" | "nowMs"> & { till: Pick<Till, "topUp"> },
  order: PaymentOrder,
  {
    from,
    sessionId,
    paymentId,
    told,
  }: { sessionId: string; paymentId: string | null; from: From; told?: readonly Statement[] },
  goesWithIt: () => Promise<void> = async () => undefined,
): Promise<"credited" | "repeated" | "refused"> {
  const { organizationId, amount, driver: source } = order;
  crashPoint("payment_received");
  const { kind } = await on.till.topUp(
    { organizationId, amount, kind: "purchase", source, externalId: sessionId },
    { id: `${order.driver} ${order.id}`, ...from },
  );
  if (kind === "conflict" || kind === "unknown_organization") return "refused";
  crashPoint("payment_credited");
  if (order.state !== "credited") await goesWithIt();
  await on.orders.credited(order.id, { sessionId, paymentId, told }, on.nowMs());
  return kind;
}

/**
 * Keeps the card of a payment. Failing to does not affect the payment; the organization is asked for a card
 * when automatic top-up needs one.
 */
async function keepCard(
  on: ReceivePorts,
  order: PaymentOrder,
  paymentId: string,
  paidAtMs: number,
): Promise<void> {
  const found = await on.driver.methodOf(paymentId).catch(() => null);
  if (found === null) return;
  const { organizationId } = order;
  if (!(await on.orders.keepMethod({ ...found, organizationId }, { paidAtMs, nowMs: on.nowMs() }))) return;
  await on.automatic.mayTryAgain(organizationId, paidAtMs);
}

async function notPaid(
  on: ReceivePorts,
  event: Extract<PaymentEvent, { kind: "not_paid" }>,
): Promise<Verdict> {
  const order = await on.orders.ofSession(on.driver.name, event.sessionId);
  if (order === null) return ignored("not an order of this gateway", null);
  const ended = await on.orders.ended(order.id, event, on.nowMs());
  if (!ended) return ignored(`the order is already ${order.state}`, order);
  if (order.purpose === "auto_top_up") await on.automatic.declined(order, event.reason);
  return { outcome: event.state, detail: event.reason, order };
}

/** Handles a dispute or refund of one of our payments, or its end. */
async function moved(on: ReceivePorts, event: Moved): Promise<Verdict> {
  const { paymentId, money } = event;
  if (paymentId === null) return ignored("it names no payment", null);
  const order = await on.orders.ofPayment(on.driver.name, paymentId);
  if (order === null) return unknownPayment(on, paymentId);
  if (money.currency !== order.currency)
    return refused(`${money.currency} is not the order's currency`, order);
  if (money.amount > order.amount) return refused("more than the order was for", order);
  return event.kind === "taken_back" ? takeBack(on, event, order) : giveAgain(on, event, order);
}

/** The payment belongs to another user of the same account, or is ours but not credited yet. */
async function unknownPayment(on: ReceivePorts, paymentId: string): Promise<Verdict> {
  const orderId = await on.driver.orderOf(paymentId);
  const order = orderId === null ? null : await on.orders.find(orderId);
  if (order === null) return ignored("not a payment of this gateway", null);
  return { outcome: "too_early", detail: "its payment has not been credited yet", order };
}

/** The reference for each time that one dispute moves money; the first is the dispute's own id. */
const timesId = (reversalId: string, time: number): string =>
  time === 1 ? reversalId : `${reversalId}/${time}`;

/**
 * How many times the money has been withdrawn so far. A dispute that we won can withdraw it again, each time with a new
 * withdrawal. A withdrawal that arrives before the previous one was returned came too early.
 */
async function timesTaken(on: ReceivePorts, event: Moved): Promise<{ times: number; early: boolean }> {
  const { reversalId } = event;
  const { disputes } = on.driver;
  if (event.type !== disputes?.withdrawn) return { times: 1, early: false };
  const told = await on.events.countMove(noted(on, event), reversalId, on.nowMs());
  const returned = await on.events.moves(on.driver.name, reversalId, disputes.returned);
  return { times: Math.min(told, returned + 1), early: told > returned + 1 };
}

const noted = (on: ReceivePorts, { id, type }: Moved) => ({ driver: on.driver.name, id, type });

async function takeBack(on: ReceivePorts, event: Moved, order: PaymentOrder): Promise<Verdict> {
  const { times, early } = await timesTaken(on, event);
  let kind: Awaited<ReturnType<Till["reverse"]>>["kind"] = "repeated";
  let taken = false;
  for (let time = 1; time <= times; time++) {
    kind = await reverse(on, { event, order, externalId: timesId(event.reversalId, time) });
    taken ||= kind === "reversed";
    // An earlier time may have had another amount.
    if (kind !== "reversed" && kind !== "repeated" && (kind !== "conflict" || time === times))
      return refused(`the ledger answered ${kind}`, order);
  }
  if (taken) return { outcome: "taken_back", detail: "reason" in event ? event.reason : null, order };
  if (early) return { outcome: "too_early", detail: "the return before it has not arrived yet", order };
  return { outcome: "repeated", detail: null, order };
}

interface Booking {
  event: Moved;
  order: PaymentOrder;
  externalId: string;
}

const actorOf = ({ event, order }: Booking): Actor => ({
  id: `${order.driver} ${event.reversalId}`,
  ...event.from,
});

async function reverse(on: ReceivePorts, booking: Booking) {
  const { event, order, externalId } = booking;
  const { organizationId, driver: source } = order;
  const target = event.paymentId ?? "";
  const { amount } = event.money;
  await on.automatic.takingBack(order, { amount, reversalId: externalId });
  const { kind } = await on.till.reverse(
    { organizationId, amount, kind: "chargeback", target, source, externalId },
    actorOf(booking),
  );
  if (kind === "reversed") await on.automatic.tookBack(order);
  return kind;
}

/**
 * Returns only what was withdrawn before: if the end of a dispute arrives before its beginning, the service delivers it
 * again.
 */
async function giveAgain(on: ReceivePorts, event: Moved, order: PaymentOrder): Promise<Verdict> {
  const { organizationId, driver: source } = order;
  const isDispute = event.type === on.driver.disputes?.returned;
  const told = isDispute ? await on.events.countMove(noted(on, event), event.reversalId, on.nowMs()) : 1;
  let [returned, early] = [false, false];
  for (let time = 1; time <= told; time++) {
    const externalId = timesId(event.reversalId, time);
    early = !(await on.orders.wasTakenBack(order, externalId));
    if (early) break;
    const { kind } = await on.till.topUp(
      {
        organizationId,
        amount: event.money.amount,
        kind: "purchase",
        source,
        externalId: `${externalId}/returned`,
      },
      actorOf({ event, order, externalId }),
    );
    returned ||= kind === "credited";
    if (kind !== "credited" && kind !== "repeated" && (kind !== "conflict" || time === told))
      return refused(`the ledger answered ${kind}`, order);
  }
  if (returned) return { outcome: "returned", detail: null, order };
  if (!early) return { outcome: "repeated", detail: null, order };
  return isDispute
    ? { outcome: "too_early", detail: "the dispute that it ends has not arrived yet", order }
    : ignored("nothing had been taken back", order);
}

type Judged = (detail: string, order: PaymentOrder | null) => Verdict;
const ignored: Judged = (detail, order) => ({ outcome: "ignored", detail, order });
const refused: Judged = (detail, order) => ({ outcome: "refused", detail, order });
