// A way to be paid. Drivers know their service's words and nothing of the ledger: they open a page to pay on, charge a
// saved card, and read verified events. What an event is worth is judged against our order (receive.ts).
import type { NanoUsd } from "../domain/money.ts";
import type { DriverName, PaymentMethod, PaymentOrder } from "./order.ts";

export interface PaymentDriver {
  readonly name: DriverName;
  /** The types of the events by which a dispute takes its money, and gives it back; null where there are no disputes. */
  readonly disputes: { withdrawn: string; returned: string } | null;
  /** Asks for the money of an order. Safe to repeat: the same order opens the same session. */
  open(order: PaymentOrder, ask: Ask): Promise<Opened>;
  /** A delivery with a valid signature, in our words. Throws `WebhookRefusal` for every other one. */
  read(delivery: SignedBody): Promise<PaymentEvent>;
  /** Charges a saved card for an order. Safe to repeat: the same order charges once. Throws `ServiceFailure`. */
  charge(order: PaymentOrder, method: PaymentMethod): Promise<Charged>;
  /**
   * How the charge of an order stands, without charging: `void` when the service knows of none. Throws `ServiceFailure`.
   */
  standing(order: PaymentOrder, method: PaymentMethod | null): Promise<Charged>;
  /**
   * Sees to it that an order is not charged from now on, by whomever: `withdrawn` when it never was, else how its charge
   * stands. Safe to repeat. Throws `ServiceFailure`: then it may still be charged.
   */
  withdraw(order: PaymentOrder, method: PaymentMethod | null): Promise<Charged | { kind: "withdrawn" }>;
  /** The card of a payment that was allowed to be kept; null when there is none. Throws `ServiceFailure`. */
  methodOf(paymentId: string): Promise<Omit<PaymentMethod, "organizationId" | "savedAtMs"> | null>;
  /** The order that a payment was made for, as the service remembers it; null for payments of somebody else. */
  orderOf(paymentId: string): Promise<string | null>;
}

export interface Ask {
  /** Where the payer returns to; says nothing about whether money came. */
  paidUrl: string;
  leftUrl: string;
  /** Keep the card, so that `charge` can use it. */
  keepCard: boolean;
}

export type Opened =
  | { kind: "page"; sessionId: string; url: string }
  /** Nothing to click: somebody confirms the payment by hand. */
  | { kind: "by_hand" };

export interface SignedBody {
  /** The exact bytes. */
  body: Uint8Array;
  signature: string | null;
  nowMs: number;
}

export type PaymentEvent = { id: string; type: string } & (
  | {
      kind: "paid";
      /** A checkout page was paid, or a saved card charged. */
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
  /** The payer's bank or we took money back: `reversalId` is of the dispute or the refund. */
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
  /** The card's bank said no; `reason` is for people. */
  | { kind: "declined"; reason: string }
  /** Under way: an event tells how it ends. */
  | { kind: "pending"; paymentId: string }
  /** The service answers for good that it failed, and knows of no payment for the order. */
  | { kind: "void"; reason: string };

/** A delivery that is not believed: forged, changed, too old or no event at all. Nothing of it was used. */
export class WebhookRefusal extends Error {}

/** The payment service could not be reached or refused our call; the outcome is unknown or nothing happened. */
export class ServiceFailure extends Error {}
