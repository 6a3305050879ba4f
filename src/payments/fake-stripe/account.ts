// The fake's state, in Stripe's terms: checkout pages, payments, and their events. No real money; everything
// is in memory.
import { randomBase62 } from "../../lib/id.ts";

export interface Session {
  id: string;
  object: "checkout.session";
  mode: "payment";
  client_reference_id: string | null;
  amount_total: number;
  currency: string;
  metadata: Record<string, string>;
  payment_intent: string | null;
  payment_status: "unpaid" | "paid";
  status: "open" | "complete" | "expired";
  customer: string | null;
  url: string;
  success_url: string;
  cancel_url: string;
}

export interface Payment {
  id: string;
  object: "payment_intent";
  amount: number;
  amount_received: number;
  currency: string;
  customer: string | null;
  metadata: Record<string, string>;
  payment_method: string | null;
  status: "succeeded" | "processing" | "requires_payment_method" | "requires_action" | "canceled";
}

export interface FakeStripeEvent {
  id: string;
  object: "event";
  api_version: string;
  created: number;
  livemode: false;
  type: string;
  data: { object: unknown };
}

const newId = (prefix: string): string => `${prefix}_test_${randomBase62(16)}`;

export class FakeAccount {
  readonly sessions = new Map<string, Session>();
  readonly payments = new Map<string, Payment>();
  readonly refunds = new Map<string, MoneyBack>();

  /** `pageRoot`: where the fake serves its own pages. */
  openSession(form: URLSearchParams, pageRoot: string): Session {
    const id = newId("cs");
    const session: Session = {
      id,
      object: "checkout.session",
      mode: "payment",
      client_reference_id: form.get("client_reference_id"),
      amount_total: Number(form.get("line_items[0][price_data][unit_amount]")),
      currency: form.get("line_items[0][price_data][currency]") ?? "usd",
      metadata: metadataOf(form),
      payment_intent: null,
      payment_status: "unpaid",
      status: "open",
      customer: form.get("customer_creation") === "always" ? newId("cus") : null,
      url: `${pageRoot}/pay/${id}`,
      success_url: form.get("success_url") ?? "",
      cancel_url: form.get("cancel_url") ?? "",
    };
    this.sessions.set(id, session);
    return session;
  }

  /** Pays a checkout page. Paying it again changes nothing. */
  pay(session: Session): Payment {
    const paid = session.payment_intent === null ? undefined : this.payments.get(session.payment_intent);
    if (paid !== undefined) return paid;
    const payment = this.addPayment({
      amount: session.amount_total,
      currency: session.currency,
      customer: session.customer,
      metadata: session.metadata,
      payment_method: session.customer === null ? null : newId("pm"),
      status: "succeeded",
    });
    Object.assign(session, { payment_intent: payment.id, payment_status: "paid", status: "complete" });
    return payment;
  }

  charge(form: URLSearchParams, status: Payment["status"]): Payment {
    return this.addPayment({
      amount: Number(form.get("amount")),
      currency: form.get("currency") ?? "usd",
      customer: form.get("customer"),
      metadata: metadataOf(form),
      payment_method: form.get("payment_method"),
      status,
    });
  }

  /** As Stripe prints it, with the card expanded if requested. */
  /** Expands the card, which is otherwise printed as its id. */
  printWithCard(payment: Payment): Record<string, unknown> {
    const { payment_method: id } = payment;
    const card = { id, object: "payment_method", type: "card", card: { brand: "visa", last4: "4242" } };
    return { ...payment, payment_method: id === null ? null : card };
  }

  private addPayment(fields: Omit<Payment, "id" | "object" | "amount_received">): Payment {
    const received = fields.status === "succeeded" ? fields.amount : 0;
    const payment: Payment = {
      id: newId("pi"),
      object: "payment_intent",
      ...fields,
      amount_received: received,
    };
    this.payments.set(payment.id, payment);
    return payment;
  }
}

/** A snapshot: later changes to the object do not change the event. */
export const eventOf = (type: string, object: object, nowMs: number): FakeStripeEvent => ({
  id: newId("evt"),
  object: "event",
  api_version: "2026-10-28.endive",
  created: Math.floor(nowMs / 1000),
  livemode: false,
  type,
  data: { object: structuredClone(object) },
});

/** A dispute or a refund. */
export interface MoneyBack {
  id: string;
  object: "dispute" | "refund";
  amount: number;
  currency: string;
  payment_intent: string;
  reason: string;
  status: string;
}

export function moneyBack(
  payment: Payment,
  also: { object: MoneyBack["object"]; amount?: number; status: string },
): MoneyBack {
  const { object, amount = payment.amount, status } = also;
  return {
    id: newId(object === "dispute" ? "dp" : "re"),
    object,
    amount,
    currency: payment.currency,
    payment_intent: payment.id,
    reason: object === "dispute" ? "fraudulent" : "requested_by_customer",
    status,
  };
}

function metadataOf(form: URLSearchParams): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [name, value] of form) {
    const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
    if (key !== undefined) metadata[key] = value;
  }
  return metadata;
}
