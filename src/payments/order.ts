// What somebody is asked to pay. The order is ours: a payment's amount, currency and organization are
// compared with it and never taken from an event (hardening.md S29).
import type { NanoUsd } from "../domain/money.ts";

export type DriverName = "stripe" | "manual" | "test";
/** `checkout`: a person pays on a page. `auto_top_up`: a saved card is charged (auto-top-up.ts). */
type Purpose = "checkout" | "auto_top_up";
export type OrderState = "open" | "credited" | "failed" | "expired";

export const CURRENCY = "usd";

export interface PaymentOrder {
  /** `ord_…`. */
  id: string;
  organizationId: string;
  driver: DriverName;
  purpose: Purpose;
  amount: NanoUsd;
  currency: string;
  state: OrderState;
  /** The service's checkout page or charge; the external id of the top-up. */
  sessionId: string | null;
  /** The service's payment id, which disputes and refunds name. */
  paymentId: string | null;
  payUrl: string | null;
  /** Why it failed, for people. */
  reason: string | null;
  createdBy: string;
  createdAtMs: number;
  endedAtMs: number | null;
}

/** A card that an organization agreed to have charged; the card number stays with the payment service. */
export interface PaymentMethod {
  organizationId: string;
  driver: DriverName;
  customerId: string;
  methodId: string;
  /** `visa •••• 4242`. */
  label: string;
  savedAtMs: number;
}

export const NANO_PER_CENT = 10_000_000n;
