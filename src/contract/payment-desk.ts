// What the dashboard (and the operator API) ask of payments, as one port; `src/operator/payments.ts` answers. Shapes are
// those of `/app/v1` (app/billing.ts). Every method throws `Refusal` or `OperatorRefusal` and has changed nothing then,
// and an id of another organization is an id that does not exist.
import type { Actor } from "./actor.ts";
import type { z } from "zod";
import type * as billing from "./app/billing.ts";
import type * as operator from "./app/operator.ts";

export type OrderJson = z.output<typeof billing.order>;
export type AutoTopUpJson = z.output<typeof billing.autoTopUp>;
export type PaymentEventJson = z.output<typeof operator.paymentEvent>;

export interface ListAsk {
  cursor?: string | undefined;
  limit?: number | undefined;
}
export interface ListOf<Row> {
  data: Row[];
  next_cursor: string | null;
}

export interface PaymentDesk {
  /** How this gateway is paid, and the amounts that an order may have. */
  terms(): { driver: "stripe" | "manual" | "test"; minimum_usd: string; maximum_usd: string };
  orders(org: string, ask: ListAsk): Promise<ListOf<OrderJson>>;
  order(org: string, order: string): Promise<OrderJson>;
  /** Asks for money; `formKey` is the form's idempotency key. Credits come by the payment service's event only. */
  buy(
    org: string,
    input: z.output<typeof billing.orderInput>,
    by: { actor: Actor; formKey: string | null },
  ): Promise<OrderJson>;
  autoTopUp(org: string): Promise<AutoTopUpJson>;
  setAutoTopUp(
    org: string,
    input: z.output<typeof billing.autoTopUpInput>,
    actor: Actor,
  ): Promise<AutoTopUpJson>;
  /** Tries now; the order of that try. */
  retryAutoTopUp(org: string, actor: Actor): Promise<OrderJson>;
  removeCard(org: string, actor: Actor): Promise<void>;
  /** Operators: what was asked to be paid, of every organization or of one. */
  allOrders(ask: ListAsk & { org?: string | undefined }): Promise<ListOf<OrderJson>>;
  /** Operators: events of the payment service, those that credited nothing included. */
  events(ask: ListAsk & { org?: string | undefined }): Promise<ListOf<PaymentEventJson>>;
  /** Operators: the money of an order that is paid by hand has arrived. */
  confirm(order: string, actor: Actor): Promise<OrderJson>;
}
