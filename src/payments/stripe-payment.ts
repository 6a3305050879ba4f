// How a payment of Stripe stands, and what an error of its library says of a call, in our words.
import Stripe from "stripe";
import { messageOf } from "../domain/error-message.ts";
import { nanoUsd } from "../domain/money.ts";
import { type Charged, ServiceFailure } from "./driver.ts";
import { NANO_PER_CENT } from "./order.ts";

/** What came of a charge; `pending` while Stripe, the bank or somebody else has not decided. */
export function chargedOf(payment: Stripe.PaymentIntent): Charged {
  const money = {
    amount: nanoUsd(BigInt(payment.amount_received) * NANO_PER_CENT),
    currency: payment.currency,
  };
  switch (payment.status) {
    case "succeeded":
      return { kind: "paid", paymentId: payment.id, money };
    case "canceled":
    case "requires_payment_method":
      return { kind: "declined", reason: payment.last_payment_error?.message ?? "The card was declined." };
    case "processing":
    case "requires_action":
    case "requires_capture":
    case "requires_confirmation":
      break;
  }
  return { kind: "pending", paymentId: payment.id };
}

/** Waits for somebody to confirm it, and nobody is there: a saved card is charged without its owner. */
export const isForsaken = ({ status }: Stripe.PaymentIntent): boolean =>
  status === "requires_action" || status === "requires_confirmation" || status === "requires_capture";

/**
 * Stripe keeps what it answered under an idempotency key, a failure of its own too: a repetition is told the same for a
 * day, and a refused request or a key of another request will not be taken later either.
 */
export function isForGood(error: unknown): error is Stripe.errors.StripeError {
  if (!(error instanceof Stripe.errors.StripeError)) return false;
  if (
    error instanceof Stripe.errors.StripeInvalidRequestError ||
    error instanceof Stripe.errors.StripeIdempotencyError
  )
    return true;
  return (error.statusCode ?? 0) >= 500 && error.headers?.["idempotent-replayed"] === "true";
}

/** Stripe's messages name no secret: an invalid key is printed with all but its last characters starred out. */
export function serviceFailureOf(error: unknown): ServiceFailure {
  if (error instanceof ServiceFailure) return error;
  return new ServiceFailure(`The call to Stripe failed: ${messageOf(error)}`);
}
