// Stripe: Checkout pages, saved cards, signed events. Besides the fake, only this file and
// `stripe-payment.ts` import its library. Under Bun only the library's asynchronous webhook functions work.
// Every call carries our order's id as its idempotency key, so a call repeated after a crash or a timeout
// does not request or charge twice.
import Stripe from "stripe";
import { formatUsd } from "../domain/money.ts";
import {
  type Ask,
  type Charged,
  type SignedBody,
  type Opened,
  type PaymentDriver,
  type PaymentEvent,
  ServiceFailure,
  WebhookRefusal,
} from "./driver.ts";
import { NANO_PER_CENT, type PaymentMethod, type PaymentOrder } from "./order.ts";
import { asStripeEvent, DISPUTES, readRefund, readStripeEvent, refundOf } from "./stripe-event.ts";
import { chargedOf, serviceFailureOf, isForGood, isForsaken } from "./stripe-payment.ts";

export interface StripeSettings {
  /** `test`: the fake server only pretends to move money; everything else is the same. */
  name: "stripe" | "test";
  secretKey: string;
  webhookSecret: string;
  /** Null means api.stripe.com. */
  apiUrl: string | null;
}

const TOLERANCE_S = 300;
const CALL_TIMEOUT_MS = 20_000;
const CLOCKS_DIFFER_S = 600;

/** Throws `ServiceFailure` if Stripe could not be asked: the outcome is unknown, and the order stays open. */
export class StripeDriver implements PaymentDriver {
  readonly name: "stripe" | "test";
  readonly disputes = DISPUTES;
  private readonly stripe: Stripe;
  private readonly webhookSecret: string;

  /** Throws without secrets: anybody can sign events with an empty secret (hardening.md S11). */
  constructor({ name, secretKey, webhookSecret, apiUrl }: StripeSettings) {
    if (secretKey.trim() === "") throw new Error("the Stripe secret key is empty");
    if (webhookSecret.trim() === "") throw new Error("the Stripe webhook secret is empty");
    this.name = name;
    this.webhookSecret = webhookSecret;
    this.stripe = new Stripe(secretKey, {
      ...(apiUrl !== null && placeOf(apiUrl)),
      timeout: CALL_TIMEOUT_MS,
      maxNetworkRetries: 1,
      telemetry: false,
      appInfo: { name: "Tollgate" },
    });
  }

  async open(order: PaymentOrder, ask: Ask): Promise<Opened> {
    const marks = { order: order.id, organization: order.organizationId };
    const session = await this.call(() =>
      this.stripe.checkout.sessions.create(
        {
          mode: "payment",
          client_reference_id: order.id,
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency: order.currency,
                unit_amount: centsOf(order),
                product_data: { name: `Credits, $${dollarsOf(order)}` },
              },
            },
          ],
          metadata: { ...marks, keep_card: ask.keepCard ? "yes" : "no" },
          payment_intent_data: {
            metadata: marks,
            ...(ask.keepCard && { setup_future_usage: "off_session" as const }),
          },
          ...(ask.keepCard && { customer_creation: "always" as const }),
          success_url: ask.paidUrl,
          cancel_url: ask.leftUrl,
        },
        { idempotencyKey: order.id },
      ),
    );
    if (session.url === null) throw new ServiceFailure("Stripe opened a checkout without a URL");
    return { kind: "page", sessionId: session.id, url: session.url };
  }

  async read({ body, signature, nowMs }: SignedBody): Promise<PaymentEvent> {
    if (signature === null) throw new WebhookRefusal("The header Stripe-Signature is missing.");
    // The library rejects only signatures that are too old.
    const signedAtMs = Number(/(?:^|,)\s*t=(\d{1,12})(?:,|$)/.exec(signature)?.[1] ?? 0) * 1000;
    if (signedAtMs - nowMs > TOLERANCE_S * 1000)
      throw new WebhookRefusal("The signature's timestamp is in the future. Check the gateway's clock.");
    try {
      const signed = await this.stripe.webhooks.constructEventAsync(
        Buffer.from(body),
        signature,
        this.webhookSecret,
        TOLERANCE_S,
        undefined,
        nowMs,
      );
      const event = asStripeEvent(signed);
      const refundId = refundOf(event);
      if (refundId === null) return readStripeEvent(event);
      // A refund can still fail after it succeeded, and its events arrive in any order: only its current
      // state counts.
      const refund = await this.call(() => this.stripe.refunds.retrieve(refundId));
      return readRefund({ id: event.id, type: event.type }, refund);
    } catch (error) {
      if (error instanceof WebhookRefusal || error instanceof ServiceFailure) throw error;
      if (error instanceof Stripe.errors.StripeSignatureVerificationError)
        throw new WebhookRefusal(
          "The signature does not match this body and this endpoint's secret, or it is more than 5 minutes old.",
        );
      throw new WebhookRefusal("The body is not a Stripe event.");
    }
  }

  async charge(order: PaymentOrder, method: PaymentMethod): Promise<Charged> {
    try {
      const payment = await this.stripe.paymentIntents.create(
        {
          amount: centsOf(order),
          currency: order.currency,
          customer: method.customerId,
          payment_method: method.methodId,
          off_session: true,
          confirm: true,
          metadata: { order: order.id, organization: order.organizationId },
        },
        { idempotencyKey: order.id },
      );
      return chargedOf(payment);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeCardError) return { kind: "declined", reason: error.message };
      if (!isForGood(error)) throw serviceFailureOf(error);
      // Every repetition gets this same response: the payments show what became of the order.
      const found = await this.standing(order, method);
      const refused = error instanceof Stripe.errors.StripeInvalidRequestError;
      return found.kind === "void" && refused ? { kind: "declined", reason: error.message } : found;
    }
  }

  async standing(order: PaymentOrder, method: PaymentMethod | null): Promise<Charged> {
    const { sessionId } = order;
    if (sessionId !== null) {
      const payment = await this.call(() => this.stripe.paymentIntents.retrieve(sessionId));
      return chargedOf(isForsaken(payment) ? await this.cancel(payment.id) : payment);
    }
    const found = await this.paymentFor(order, method);
    return found === null
      ? {
          kind: "void",
          reason: "Stripe failed to charge the card and has no payment on record; the charge is tried again.",
        }
      : chargedOf(found);
  }

  /**
   * Uses up the order's key with a payment that names no card and that nobody confirms, so that a later
   * charge is rejected because of its key. If the key was used before, the charge was requested, and this
   * returns how it stands.
   */
  async withdraw(
    order: PaymentOrder,
    method: PaymentMethod | null,
  ): Promise<Charged | { kind: "withdrawn" }> {
    try {
      await this.stripe.paymentIntents.create(
        {
          amount: centsOf(order),
          currency: order.currency,
          description: "An automatic top-up that was withdrawn before it was charged",
          metadata: { order: order.id, organization: order.organizationId, withdrawn: "yes" },
        },
        { idempotencyKey: order.id },
      );
      return { kind: "withdrawn" };
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeIdempotencyError)) throw serviceFailureOf(error);
      return this.standing(order, method);
    }
  }

  private cancel(paymentId: string): Promise<Stripe.PaymentIntent> {
    return this.call(() => this.stripe.paymentIntents.cancel(paymentId));
  }

  /** Looks among the payments of the card's customer; if the card may have changed, among all. */
  private async paymentFor(
    order: PaymentOrder,
    method: PaymentMethod | null,
  ): Promise<Stripe.PaymentIntent | null> {
    const created = { gte: Math.floor(order.createdAtMs / 1000) - CLOCKS_DIFFER_S };
    const isIts = ({ metadata }: Stripe.PaymentIntent): boolean =>
      metadata["order"] === order.id && metadata["withdrawn"] === undefined;
    return this.call(async () => {
      if (method !== null)
        for await (const payment of this.stripe.paymentIntents.list({
          customer: method.customerId,
          created,
          limit: 100,
        }))
          if (isIts(payment)) return payment;
      const query = `metadata['order']:'${order.id}'`;
      const { data } = await this.stripe.paymentIntents.search({ query }).catch((error: unknown) => {
        // Accounts in some countries have no search.
        if (error instanceof Stripe.errors.StripeInvalidRequestError) return { data: [] };
        throw error;
      });
      return data.find(isIts) ?? null;
    });
  }

  async methodOf(paymentId: string): Promise<Omit<PaymentMethod, "organizationId" | "savedAtMs"> | null> {
    const payment = await this.call(() =>
      this.stripe.paymentIntents.retrieve(paymentId, { expand: ["payment_method"] }),
    );
    const { customer, payment_method: method } = payment;
    if (customer === null || method === null || typeof method === "string") return null;
    const label = method.card ? `${method.card.brand} •••• ${method.card.last4}` : method.type;
    return {
      driver: this.name,
      customerId: typeof customer === "string" ? customer : customer.id,
      methodId: method.id,
      label,
    };
  }

  async orderOf(paymentId: string): Promise<string | null> {
    const payment = await this.call(() => this.stripe.paymentIntents.retrieve(paymentId));
    return payment.metadata["order"] ?? null;
  }

  private async call<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw serviceFailureOf(error);
    }
  }
}

function centsOf({ amount }: PaymentOrder): number {
  if (amount % NANO_PER_CENT !== 0n)
    throw new Error(`an order of ${amount} nano-USD is not a whole number of cents`);
  return Number(amount / NANO_PER_CENT);
}

const dollarsOf = ({ amount }: PaymentOrder): string => formatUsd(amount).slice(0, -7);

function placeOf(apiUrl: string): { host: string; port: number; protocol: "http" | "https" } {
  const { hostname, port, protocol } = new URL(apiUrl);
  const plain = protocol === "http:";
  return {
    host: hostname,
    port: Number(port) || (plain ? 80 : 443),
    protocol: plain ? "http" : "https",
  };
}
