// Stripe's events in our terms. Reads only what is needed; anything of an unexpected shape is "other", so
// that an event of a newer API version is not half understood.
import { z } from "zod";
import { nanoUsd } from "../domain/money.ts";
import type { Money, PaymentDriver, PaymentEvent } from "./driver.ts";
import { NANO_PER_CENT } from "./order.ts";

/** Each time a dispute moves money again, one of these events reports it. */
export const DISPUTES = {
  withdrawn: "charge.dispute.funds_withdrawn",
  returned: "charge.dispute.funds_reinstated",
} as const satisfies NonNullable<PaymentDriver["disputes"]>;

const REASON_CHARACTERS_MAX = 500;

/** An id that names a row: only strings that look like the service's own ids. */
const id = z.string().regex(/^[\w-]{1,255}$/);
const idOrNull = z
  .union([id, z.looseObject({ id })])
  .nullish()
  .transform((told) => (typeof told === "string" ? told : (told?.id ?? null)));
/** Shown to people; none of our texts contains what the store rejects. */
const words = z
  .string()
  .transform((told) => told.toWellFormed().replaceAll("\0", "").slice(0, REASON_CHARACTERS_MAX));
const cents = z.int().positive();
const currency = z
  .string()
  .regex(/^[A-Za-z]{3}$/)
  .transform((told) => told.toLowerCase());
/** Other programs of the same account may keep anything here. */
const metadata = z
  .looseObject({ organization: id.optional().catch(undefined), order: id.optional().catch(undefined) })
  .nullish();

const EVENT = z.looseObject({
  id,
  type: z.string().regex(/^[a-z0-9_.]{1,100}$/),
  created: z.int().min(0).max(0xffff_ffff).catch(0),
  data: z.looseObject({ object: z.unknown() }).catch({ object: null }),
});
const NAMED = z.looseObject({ id });
const SESSION = z
  .looseObject({
    id,
    payment_status: z.literal("paid"),
    amount_total: cents,
    currency,
    payment_intent: idOrNull,
    client_reference_id: id.nullish().catch(null),
    metadata,
  })
  .transform((session) => ({ ...session, money: moneyOf(session.amount_total, session.currency) }));
const PAYMENT = z
  .looseObject({ id, status: z.literal("succeeded"), amount_received: cents, currency, metadata })
  .transform((payment) => ({ ...payment, money: moneyOf(payment.amount_received, payment.currency) }));
const DECLINED = z.looseObject({
  id,
  last_payment_error: z.looseObject({ message: words.optional() }).nullish().catch(null),
});
const MOVED = {
  id,
  amount: cents,
  currency,
  payment_intent: idOrNull,
  status: z.string().regex(/^[a-z_]{1,50}$/),
};
/** Its money has moved, whatever the stated reason. */
const DISPUTE = z.looseObject({ ...MOVED, reason: words.catch("no reason given") });
const REFUND = z.looseObject(MOVED);

export type StripeEvent = z.output<typeof EVENT>;
type Known = Pick<PaymentEvent, "id" | "type">;

/** Parses a signed body; throws if it is not an event. */
export const asStripeEvent = (signed: unknown): StripeEvent => EVENT.parse(signed);

/** Converts an event whose signature was checked; never throws. */
export function readStripeEvent({ id: eventId, type, created, data: { object } }: StripeEvent): PaymentEvent {
  const known = { id: eventId, type };
  const paidAtMs = created * 1000;
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      // A completed page whose payment is still pending is followed by another event.
      return told(known, SESSION, object, (session) => ({
        kind: "paid",
        via: "session",
        sessionId: session.id,
        paymentId: session.payment_intent,
        orderId: session.client_reference_id ?? null,
        organizationId: session.metadata?.organization ?? null,
        money: session.money,
        keepCard: session.metadata?.["keep_card"] === "yes",
        paidAtMs,
      }));
    case "checkout.session.async_payment_failed":
      return notPaid(known, object, { state: "failed", reason: "The payment did not succeed." });
    case "checkout.session.expired":
      return notPaid(known, object, { state: "expired", reason: "The checkout page was not used in time." });
    case "payment_intent.succeeded":
      return told(known, PAYMENT, object, (payment) => ({
        kind: "paid",
        via: "charge",
        sessionId: payment.id,
        paymentId: payment.id,
        orderId: payment.metadata?.order ?? null,
        organizationId: payment.metadata?.organization ?? null,
        money: payment.money,
        keepCard: false,
        paidAtMs,
      }));
    case "payment_intent.payment_failed":
      return told(known, DECLINED, object, ({ id: sessionId, last_payment_error: error }) => ({
        kind: "not_paid",
        sessionId,
        state: "failed",
        reason: error?.message ?? "The card was declined.",
      }));
    case "charge.dispute.created":
    case DISPUTES.withdrawn:
    case DISPUTES.returned:
      return told(known, DISPUTE, object, (dispute) => disputed(known, dispute));
    default:
      return { ...known, kind: "other" };
  }
}

/** What remains of an event without its id and type. */
type Told = PaymentEvent extends infer Event
  ? Event extends Known
    ? Omit<Event, keyof Known>
    : never
  : never;

function told<T>(known: Known, shape: z.ZodType<T>, object: unknown, say: (read: T) => Told): PaymentEvent {
  const { success, data } = shape.safeParse(object);
  return { ...known, ...(success ? say(data) : { kind: "other" }) } as PaymentEvent;
}

const notPaid = (
  known: Known,
  object: unknown,
  how: { state: "failed" | "expired"; reason: string },
): PaymentEvent =>
  told(known, NAMED, object, ({ id: sessionId }) => ({ kind: "not_paid", sessionId, ...how }));

function disputed({ type }: Known, dispute: z.output<typeof DISPUTE>): Told {
  // An inquiry moves no money; if it becomes a dispute, another event reports it.
  if (dispute.status.startsWith("warning_")) return { kind: "other" };
  return type === DISPUTES.returned
    ? { kind: "returned", ...moved(dispute) }
    : { kind: "taken_back", ...moved(dispute), reason: `disputed: ${dispute.reason}` };
}

/** The refund that an event is about; null for other events. */
export function refundOf({ type, data: { object } }: StripeEvent): string | null {
  if (!type.startsWith("refund.") && type !== "charge.refund.updated") return null;
  return NAMED.safeParse(object).data?.id ?? null;
}

/** A refund in its current state at the service. */
export const readRefund = (known: Known, refund: unknown): PaymentEvent =>
  told(known, REFUND, refund, (read) => {
    if (read.status === "succeeded") return { kind: "taken_back", ...moved(read), reason: "paid back" };
    if (read.status === "failed" || read.status === "canceled") return { kind: "returned", ...moved(read) };
    return { kind: "other" };
  });

const moved = ({
  id: reversalId,
  amount,
  currency: of,
  payment_intent: paymentId,
}: z.output<typeof REFUND>) => ({
  reversalId,
  paymentId,
  money: moneyOf(amount, of),
});

const moneyOf = (amount: number, of: string): Money => ({
  amount: nanoUsd(BigInt(amount) * NANO_PER_CENT),
  currency: of,
});
