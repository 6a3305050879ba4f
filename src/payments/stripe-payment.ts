// Translates the state of a Stripe payment, and the errors of Stripe's library, to our terms.
import Stripe from "stripe";
import { messageOf } from "../domain/error-message.ts";
import { nanoUsd } from "../domain/money.ts";
import { type Charged, ServiceFailure } from "./driver.ts";
import { NANO_PER_CENT } from "./order.ts";

/** The outcome of a charge; `pending` while Stripe, the bank or somebody else has not decided. */
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

/**
 * True if the payment waits for a confirmation that nobody can give: a saved card is charged without its
 * owner present.
 */
export const isForsaken = ({ status }: Stripe.PaymentIntent): boolean =>
  status === "requires_action" || status === "requires_confirmation" || status === "requires_capture";

/**
 * True if repeating the request cannot succeed. Stripe stores its response under the idempotency key, even
 * for its own failures, so a repetition gets the same response for a day; a rejected request or a key used
 * for another request is not accepted later either.
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

/**
 * Stripe's messages contain no secret: an invalid key is printed with all but its last characters starred
 * out.
 */
export function serviceFailureOf(error: unknown): ServiceFailure {
  if (error instanceof ServiceFailure) return error;
  return new ServiceFailure(`The call to Stripe failed: ${messageOf(error)}`);
}
