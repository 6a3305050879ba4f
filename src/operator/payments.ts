// Payments as use-cases: what people and operators ask for, in the shapes of the dashboard's API. Each change is one
// line of the audit log; crediting writes its own, in the ledger's transaction. Every method throws `Refusal` or
// `OperatorRefusal` and has changed nothing then, and an id of another organization is an id that does not exist.
import type { z } from "zod";
import type { AutoTopUpJson, autoTopUpInput, OrderJson, orderInput } from "../api/shapes/billing.ts";
import type { PaymentEventJson } from "../api/shapes/credits.ts";
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { formatUsd } from "../domain/money.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { Refusal } from "../domain/refusals.ts";
import { changedMeanwhile, checkVersion, versionOf } from "../domain/row-version.ts";
import { type AutoTopUpTerms, UNSET } from "../payments/auto-top-up-book.ts";
import { monthStartOf } from "../payments/auto-top-up.ts";
import { ServiceFailure } from "../payments/driver.ts";
import type { EventRecord } from "../payments/event-log.ts";
import { NANO_PER_CENT, type PaymentOrder } from "../payments/order.ts";
import { BEGUN_MAX } from "../payments/order-book.ts";
import type { Payments } from "../payments/payments.ts";
import { actsBelow } from "../payments/top-up-brake.ts";
import { type ListAsk, type ListOf, listOf, startOf } from "./list.ts";
import { readUsd } from "../domain/read.ts";
import { unknownRecord } from "../domain/unknown-record.ts";

export interface PaymentServicePorts {
  payments: Payments;
  note: (note: AuditNote) => Promise<void>;
  nowMs: () => number;
  /** Where people see the dashboard, without a slash at the end. */
  dashboardUrl: () => string;
}

export type PaymentService = ReturnType<typeof paymentService>;

export function paymentService(on: PaymentServicePorts) {
  return { ...ordering(on), ...automatic(on), ...forOperators(on) };
}

type OfAny = ListAsk & { org?: string | undefined };

function ordering({ payments, note, dashboardUrl }: PaymentServicePorts) {
  const { minimum, maximum } = payments.limits;
  return {
    /** How this gateway is paid, and the amounts that an order may have. */
    terms: () => ({
      driver: payments.driver,
      minimum_usd: formatUsd(minimum),
      maximum_usd: formatUsd(maximum),
    }),
    async orders(org: string, ask: ListAsk): Promise<ListOf<OrderJson>> {
      const { after, limit } = startOf(ask);
      return listOf(await payments.orders.page(org, after, { limit }), printOrder);
    },
    async order(org: string, id: string): Promise<OrderJson> {
      const order = await payments.orders.find(id);
      if (order === null || order.organizationId !== org) throw unknownRecord("order", id, "order");
      return printOrder(order);
    },
    /** Asks for money; `formKey` is the form's idempotency key. Credits come by the payment service's event only. */
    async buy(
      org: string,
      input: z.output<typeof orderInput>,
      { actor, formKey }: { actor: Actor; formKey: string | null },
    ): Promise<OrderJson> {
      const amount = readUsd(input.amount_usd, "amount_usd");
      const checkout = await reached(() =>
        payments.checkout({
          organizationId: org,
          amount,
          createdBy: actor.id,
          formKey,
          keepCard: input.keep_card,
          returnUrl: `${dashboardUrl()}/o/${org}/billing`,
        }),
      );
      switch (checkout.kind) {
        case "ordered":
          if (checkout.fresh)
            await note({
              actor,
              action: "order.create",
              organizationId: org,
              target: checkout.order.id,
              after: { amount_usd: formatUsd(amount) },
            });
          return printOrder(checkout.order);
        case "wrong_amount":
          throw wrongAmount("amount_usd", checkout.message);
        case "form_reused":
          throw new OperatorRefusal("conflict", "This form ordered another amount before. Open a new one.");
        case "too_many_begun":
          throw new OperatorRefusal(
            "conflict",
            `${BEGUN_MAX} payments were begun within a day and not paid. Pay one of them, or come back tomorrow.`,
          );
        case "unknown_organization":
          throw unknownRecord("organization", org, "org");
      }
    },
  };
}

function automatic({ payments, note, nowMs }: PaymentServicePorts) {
  const show = async (org: string): Promise<AutoTopUpJson> => {
    const [wish, card, spent, last] = await Promise.all([
      payments.automatic.find(org),
      payments.orders.method(org),
      payments.orders.automaticSince(org, monthStartOf(nowMs())),
      payments.orders.lastAutomatic(org),
    ]);
    const failed = wish?.lastFailure ?? null;
    return {
      ...printTerms(wish ?? UNSET),
      acts_below_usd: wish === null ? null : formatUsd(actsBelow(wish)),
      spent_this_month_usd: formatUsd(spent),
      card: card?.label ?? null,
      last_failure:
        failed === null
          ? null
          : {
              at: printTime(wish?.failedAtMs ?? nowMs()),
              reason: failed,
              order: last?.state === "failed" ? last.id : null,
            },
      version: versionOf("auto_top_up", wish ?? UNSET),
    };
  };
  return {
    autoTopUp: show,
    async setAutoTopUp(
      org: string,
      { version, ...input }: z.output<typeof autoTopUpInput>,
      actor: Actor,
    ): Promise<AutoTopUpJson> {
      const [threshold, amount] = [
        readUsd(input.threshold_usd, "threshold_usd"),
        readUsd(input.amount_usd, "amount_usd"),
      ];
      const cap = input.monthly_cap_usd;
      const monthlyCap = cap === null ? null : readUsd(cap, "monthly_cap_usd");
      const { minimum, maximum } = payments.limits;
      if (amount < minimum || amount > maximum || amount % NANO_PER_CENT !== 0n)
        throw wrongAmount(
          "amount_usd",
          `must be whole cents from $${formatUsd(minimum).slice(0, -7)} to $${formatUsd(maximum).slice(0, -7)}`,
        );
      if (input.on && amount < threshold)
        throw wrongAmount(
          "amount_usd",
          "must not be below threshold_usd: one charge would leave less than the threshold, and the next would follow at once",
        );
      if (monthlyCap !== null && monthlyCap < amount)
        throw wrongAmount("monthly_cap_usd", "must not be below amount_usd");
      const terms = { organizationId: org, enabled: input.on, threshold, amount, monthlyCap };
      const before = await payments.automatic.find(org);
      checkVersion(version, versionOf("auto_top_up", before ?? UNSET));
      if ((await payments.automatic.set(terms, before)) === null)
        throw (await payments.automatic.find(org)) === null
          ? unknownRecord("organization", org, "org")
          : changedMeanwhile();
      await note({
        actor,
        action: "auto_top_up.set",
        organizationId: org,
        target: org,
        before: printTerms(before ?? UNSET),
        after: input,
      });
      return show(org);
    },
    /** Tries now; the order of that try. */
    async retryAutoTopUp(org: string, actor: Actor): Promise<OrderJson> {
      const before = await payments.orders.lastAutomatic(org);
      await note({ actor, action: "auto_top_up.retry", organizationId: org, target: org });
      await payments.retryAutomatic(org, actor);
      const order = await payments.orders.lastAutomatic(org);
      if (order !== null && (order.id !== before?.id || order.state !== before.state))
        return printOrder(order);
      const reason = (await payments.automatic.find(org))?.lastFailure;
      throw new OperatorRefusal("conflict", reason ?? "Nothing to do: enough is available, or it is off.");
    },
    async removeCard(org: string, actor: Actor): Promise<void> {
      if (!(await payments.orders.forgetMethod(org))) throw unknownRecord("card", org, "org");
      await note({ actor, action: "card.remove", organizationId: org, target: org });
    },
  };
}

function forOperators({ payments, note }: PaymentServicePorts) {
  return {
    /** What was asked to be paid, of every organization or of one. */
    async allOrders({ org, ...ask }: OfAny): Promise<ListOf<OrderJson>> {
      const { after, limit } = startOf(ask);
      return listOf(await payments.orders.page(org ?? null, after, { limit }), printOrder);
    },
    /** Events of the payment service, those that credited nothing included. */
    async events({ org, ...ask }: OfAny): Promise<ListOf<PaymentEventJson>> {
      const { after, limit } = startOf(ask);
      return listOf(await payments.events.page(org ?? null, after, { limit }), printEvent);
    },
    /** The money of an order that is paid by hand has arrived. */
    async confirm(id: string, actor: Actor): Promise<OrderJson> {
      const order = await payments.orders.find(id);
      if (order === null) throw unknownRecord("order", id, "order");
      if (order.driver !== "manual")
        throw new OperatorRefusal(
          "conflict",
          `Order ${id} is paid through ${order.driver}, whose event credits it.`,
        );
      const outcome = await payments.confirm(order, { reference: id, from: actor });
      if (outcome === "refused")
        throw new OperatorRefusal("conflict", `Order ${id} was credited before with another amount.`);
      if (outcome === "credited")
        await note({ actor, action: "order.confirm", organizationId: order.organizationId, target: id });
      return printOrder((await payments.orders.find(id)) ?? order);
    },
  };
}

const printTerms = ({ enabled, threshold, amount, monthlyCap }: AutoTopUpTerms | typeof UNSET) => ({
  on: enabled,
  threshold_usd: threshold === null ? null : formatUsd(threshold),
  amount_usd: amount === null ? null : formatUsd(amount),
  monthly_cap_usd: monthlyCap === null ? null : formatUsd(monthlyCap),
});

const wrongAmount = (param: string, message: string): Refusal =>
  new Refusal("invalid_request", `${param} ${message}.`, { param });

async function reached<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    throw new OperatorRefusal("payment_service_unavailable", `${error.message} Send the form again.`);
  }
}

const printOrder = (order: PaymentOrder): OrderJson => ({
  id: order.id,
  org: order.organizationId,
  purpose: order.purpose,
  driver: order.driver,
  amount_usd: formatUsd(order.amount),
  state: order.state,
  pay_url: order.state === "open" ? order.payUrl : null,
  reason: order.reason,
  created_by: order.createdBy,
  created_at: printTime(order.createdAtMs),
  ended_at: printTimeOrNull(order.endedAtMs),
});

const printEvent = (event: EventRecord): PaymentEventJson => ({
  id: event.id,
  driver: event.driver,
  type: event.type,
  org: event.organizationId,
  order: event.orderId,
  outcome: event.outcome,
  detail: event.detail,
  deliveries: event.deliveries,
  received_at: printTime(event.receivedAtMs),
});
