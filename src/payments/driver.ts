// A way to be paid. Drivers know their service's vocabulary and nothing about the ledger: they open a payment
// page, charge a saved card, and read verified events. What an event is worth is judged against our order
// (receive.ts).
import type { NanoUsd } from "../domain/money.ts";
import type { DriverName, PaymentMethod, PaymentOrder } from "./order.ts";

export interface PaymentDriver {
  readonly name: DriverName;
  /** The event types by which a dispute withdraws and returns money; null if the driver has no disputes. */
  readonly disputes: { withdrawn: string; returned: string } | null;
  /** Requests the money for an order. Safe to repeat: the same order opens the same session. */
  open(order: PaymentOrder, ask: Ask): Promise<Opened>;
  /** Converts a delivery with a valid signature to our terms. Throws `WebhookRefusal` for any other. */
  read(delivery: SignedBody): Promise<PaymentEvent>;
  /** Charges a saved card for an order. Safe to repeat: the same order charges once. Throws `ServiceFailure`. */
  charge(order: PaymentOrder, method: PaymentMethod): Promise<Charged>;
  /**
   * How the charge of an order stands, without charging: `void` if the service knows of none. Throws
   * `ServiceFailure`.
   */
  standing(order: PaymentOrder, method: PaymentMethod | null): Promise<Charged>;
  /**
   * Makes sure that nobody can charge an order from now on: returns `withdrawn` if it was never charged,
   * otherwise how its charge stands. Safe to repeat. Throws `ServiceFailure`: then it may still be charged.
   */
  withdraw(order: PaymentOrder, method: PaymentMethod | null): Promise<Charged | { kind: "withdrawn" }>;
  /** The card of a payment whose payer agreed to keep it; null if there is none. Throws `ServiceFailure`. */
  methodOf(paymentId: string): Promise<Omit<PaymentMethod, "organizationId" | "savedAtMs"> | null>;
  /** The order that a payment was made for, according to the service; null for payments that are not ours. */
  orderOf(paymentId: string): Promise<string | null>;
}

export interface Ask {
  /** Where the payer returns to; does not prove that money arrived. */
  paidUrl: string;
  leftUrl: string;
  /** Save the card, so that `charge` can use it. */
  keepCard: boolean;
}

export type Opened =
  | { kind: "page"; sessionId: string; url: string }
  /** There is no page: the operator confirms the payment by hand. */
  | { kind: "by_hand" };

export interface SignedBody {
  /** The exact bytes received. */
  body: Uint8Array;
  signature: string | null;
  nowMs: number;
}

export type PaymentEvent = { id: string; type: string } & (
  | {
      kind: "paid";
      /** Whether a checkout page was paid or a saved card charged. */
      via: "session" | "charge";
      sessionId: string;
      paymentId: string | null;
      orderId: string | null;
      organizationId: string | null;
      money: Money;
      /** By the service's clock, in whole seconds. */
      paidAtMs: number;
      keepCard: boolean;
    }
  | { kind: "not_paid"; sessionId: string; state: "failed" | "expired"; reason: string }
  /** The payer's bank or we took money back: `reversalId` is the id of the dispute or refund. */
  | { kind: "taken_back"; reversalId: string; paymentId: string | null; money: Money; reason: string }
  /** A dispute was won, or a refund did not arrive: the money of `taken_back` is ours again. */
  | { kind: "returned"; reversalId: string; paymentId: string | null; money: Money }
  | { kind: "other" }
);

export interface Money {
  amount: NanoUsd;
  currency: string;
}

export type Charged =
  | { kind: "paid"; paymentId: string; money: Money }
  /** The card's bank declined; `reason` is for people. */
  | { kind: "declined"; reason: string }
  /** Under way: an event reports the outcome. */
  | { kind: "pending"; paymentId: string }
  /** The service reports a permanent failure and knows of no payment for the order. */
  | { kind: "void"; reason: string };

/** A delivery that is not trusted: forged, changed, too old or not an event. None of it was used. */
export class WebhookRefusal extends Error {}

/**
 * The payment service could not be reached or refused our call; the outcome is unknown, or nothing happened.
 */
export class ServiceFailure extends Error {}
