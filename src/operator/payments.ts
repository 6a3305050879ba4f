// Payments as use-cases for people and operators, in the shapes of the dashboard's API. Each change writes
// one audit line in its own transaction; crediting writes one in the ledger's. Every method throws `Refusal`
// or `OperatorRefusal` and has then changed nothing, and an id of another organization is treated as
// nonexistent.
import type { z } from "zod";
import type { OrderJson, orderInput } from "../api/shapes/billing.ts";
import type { PaymentEventJson } from "../api/shapes/credits.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { formatUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { ServiceFailure } from "../payments/driver.ts";
import type { EventRecord } from "../payments/event-log.ts";
import { BEGUN_MAX } from "../payments/order-book.ts";
import { type ListAsk, type ListOf, printPage, startOf } from "./list.ts";
import { readUsd } from "../domain/read.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { type AutomaticTopUpPorts, automaticTopUp } from "./automatic-top-up.ts";
import { printOrder } from "./print-order.ts";
import { auditLine } from "../store/audit-log.ts";
import { wrongAmount } from "./wrong-amount.ts";

export interface PaymentServicePorts extends AutomaticTopUpPorts {
  /** The dashboard's URL, without a trailing slash. */
  dashboardUrl: () => string;
}

export type PaymentService = ReturnType<typeof paymentService>;

/** Amounts are decimal US dollars outside, nano-USD inside. */
export function paymentService(on: PaymentServicePorts) {
  return { ...ordering(on), ...automaticTopUp(on), ...forOperators(on) };
}

type OfAny = ListAsk & { org?: string | undefined };

function ordering({ payments, nowMs, dashboardUrl }: PaymentServicePorts) {
  const { minimum, maximum } = payments.limits;
  return {
    /** This gateway's payment driver, and the limits on the amount of an order. */
    terms: () => ({
      driver: payments.driver,
      minimum_usd: formatUsd(minimum),
      maximum_usd: formatUsd(maximum),
    }),
    async orders(org: string, ask: ListAsk): Promise<ListOf<OrderJson>> {
      const { after, limit } = startOf(ask);
      return printPage(await payments.orders.page(org, after, { limit }), printOrder);
    },
    async order(org: string, id: string): Promise<OrderJson> {
      const order = await payments.orders.find(id);
      if (order === null || order.organizationId !== org) throw unknownRecord("order", id, "order");
      return printOrder(order);
    },
    /**
     * Creates an order; `formKey` is the form's idempotency key. Only the payment service's event credits it.
     */
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
          told: (target) => [
            auditLine(
              {
                actor,
                action: "order.create",
                organizationId: org,
                target,
                after: { amount_usd: formatUsd(amount) },
              },
              nowMs(),
            ),
          ],
        }),
      );
      switch (checkout.kind) {
        case "ordered":
          return printOrder(checkout.order);
        case "wrong_amount":
          throw wrongAmount("amount_usd", checkout.message);
        case "form_reused":
          throw new OperatorRefusal("conflict", "This form already ordered another amount. Open a new one.");
        case "too_many_begun":
          throw new OperatorRefusal(
            "conflict",
            `${BEGUN_MAX} payments were started within a day and not paid, which is the maximum. Pay one of them, or try again tomorrow.`,
          );
        case "unknown_organization":
          throw unknownRecord("organization", org, "org");
      }
    },
  };
}

function forOperators({ payments, nowMs }: PaymentServicePorts) {
  return {
    /** The orders of every organization or of one. */
    async allOrders({ org, ...ask }: OfAny): Promise<ListOf<OrderJson>> {
      const { after, limit } = startOf(ask);
      return printPage(await payments.orders.page(org ?? null, after, { limit }), printOrder);
    },
    /** Events of the payment service, including those that credited nothing. */
    async events({ org, ...ask }: OfAny): Promise<ListOf<PaymentEventJson>> {
      const { after, limit } = startOf(ask);
      return printPage(await payments.events.page(org ?? null, after, { limit }), printEvent);
    },
    /** Confirms that the money of a manual order has arrived. */
    async confirm(id: string, actor: Actor): Promise<OrderJson> {
      const order = await payments.orders.find(id);
      if (order === null) throw unknownRecord("order", id, "order");
      if (order.driver !== "manual")
        throw new OperatorRefusal(
          "conflict",
          `Order ${id} is paid through ${order.driver}, whose event credits it.`,
        );
      const line = { actor, action: "order.confirm", organizationId: order.organizationId, target: id };
      const told = [auditLine(line, nowMs())];
      const outcome = await payments.confirm(order, { reference: id, from: actor, told });
      if (outcome === "refused")
        throw new OperatorRefusal("conflict", `Order ${id} was already credited with another amount.`);
      return printOrder((await payments.orders.find(id)) ?? order);
    },
  };
}

async function reached<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    throw new OperatorRefusal("payment_service_unavailable", `${error.message} Send the form again.`);
  }
}

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
