// Stripe's events in our words. Only what is needed is read, and what does not have the expected shape is "other": an
// event of a newer API version must not be half understood.
import type Stripe from "stripe";
import { nanoUsd } from "../domain/money.ts";
import type { Money, PaymentDriver, PaymentEvent } from "./driver.ts";
import { NANO_PER_CENT } from "./order.ts";

/** Each time that a dispute moves money again is told by one of these. */
export const DISPUTES = {
  withdrawn: "charge.dispute.funds_withdrawn",
  returned: "charge.dispute.funds_reinstated",
} as const satisfies NonNullable<PaymentDriver["disputes"]>;

export function readStripeEvent(event: Stripe.Event): PaymentEvent {
  const { id, type, created } = event;
  const known = { id, type };
  const paidAtMs = created * 1000;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- hundreds of types are none of ours
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return sessionPaid({ ...known, paidAtMs }, event.data.object);
    case "checkout.session.async_payment_failed":
      return notPaid(known, event.data.object.id, "failed", "The payment did not succeed.");
    case "checkout.session.expired":
      return notPaid(known, event.data.object.id, "expired", "The checkout page was not used in time.");
    case "payment_intent.succeeded":
      return chargePaid({ ...known, paidAtMs }, event.data.object);
    case "payment_intent.payment_failed": {
      const { id: sessionId, last_payment_error: error } = event.data.object;
      return notPaid(known, sessionId, "failed", error?.message ?? "The card was declined.");
    }
    case "charge.dispute.created":
    case DISPUTES.withdrawn:
    case DISPUTES.returned:
      return dispute(known, event.data.object);
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
    case "charge.refund.updated":
      return readRefund(known, event.data.object);
    default:
      return { ...known, kind: "other" };
  }
}

type Known = Pick<PaymentEvent, "id" | "type">;
type KnownPaid = Known & { paidAtMs: number };

function sessionPaid(known: KnownPaid, session: Stripe.Checkout.Session): PaymentEvent {
  const money = moneyOf(session.amount_total, session.currency);
  // A completed page whose payment is still under way is followed by another event.
  if (session.payment_status !== "paid" || money === null) return { ...known, kind: "other" };
  return {
    ...known,
    kind: "paid",
    via: "session",
    sessionId: session.id,
    paymentId: idOf(session.payment_intent),
    orderId: session.client_reference_id,
    organizationId: session.metadata?.["organization"] ?? null,
    money,
    keepCard: session.metadata?.["keep_card"] === "yes",
  };
}

function chargePaid(known: KnownPaid, payment: Stripe.PaymentIntent): PaymentEvent {
  const money = moneyOf(payment.amount_received, payment.currency);
  if (payment.status !== "succeeded" || money === null) return { ...known, kind: "other" };
  return {
    ...known,
    kind: "paid",
    via: "charge",
    sessionId: payment.id,
    paymentId: payment.id,
    orderId: payment.metadata?.["order"] ?? null,
    organizationId: payment.metadata?.["organization"] ?? null,
    money,
    keepCard: false,
  };
}

const notPaid = (
  known: Known,
  sessionId: string,
  state: "failed" | "expired",
  reason: string,
): PaymentEvent => ({ ...known, kind: "not_paid", sessionId, state, reason });

function dispute(known: Known, disputed: Stripe.Dispute): PaymentEvent {
  const money = moneyOf(disputed.amount, disputed.currency);
  // An inquiry moves no money; if it becomes a dispute, another event says so.
  if (money === null || disputed.status.startsWith("warning_")) return { ...known, kind: "other" };
  const about = { ...known, reversalId: disputed.id, paymentId: idOf(disputed.payment_intent), money };
  return known.type === DISPUTES.returned
    ? { ...about, kind: "returned" }
    : { ...about, kind: "taken_back", reason: `disputed: ${disputed.reason}` };
}

/** Of which refund an event tells; null when it tells of something else. */
export const refundOf = (event: Stripe.Event): string | null =>
  event.type.startsWith("refund.") || event.type === "charge.refund.updated"
    ? (event.data.object as Stripe.Refund).id
    : null;

export function readRefund(known: Known, refunded: Stripe.Refund): PaymentEvent {
  const money = moneyOf(refunded.amount, refunded.currency);
  if (money === null) return { ...known, kind: "other" };
  const about = { ...known, reversalId: refunded.id, paymentId: idOf(refunded.payment_intent), money };
  if (refunded.status === "succeeded") return { ...about, kind: "taken_back", reason: "paid back" };
  if (refunded.status === "failed" || refunded.status === "canceled") return { ...about, kind: "returned" };
  return { ...known, kind: "other" };
}

const idOf = (named: string | { id: string } | null): string | null =>
  typeof named === "string" ? named : (named?.id ?? null);

function moneyOf(cents: number | null, currency: string | null): Money | null {
  if (!Number.isSafeInteger(cents) || cents === null || cents <= 0 || currency === null) return null;
  return { amount: nanoUsd(BigInt(cents) * NANO_PER_CENT), currency: currency.toLowerCase() };
}
