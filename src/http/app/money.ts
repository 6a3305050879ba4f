// Buying credits, automatic top-up, and the operators' view of payments: thin over the desk of `src/operator/payments`.
import type { Operator } from "../../contract/operator.ts";
import type { PaymentDesk } from "../../contract/payment-desk.ts";
import { actorOf, type Handlers } from "./call.ts";
import { namesOf } from "./names.ts";

export interface MoneyPorts {
  paymentDesk: PaymentDesk;
  operator: Pick<Operator, "organizations">;
}

type Routes =
  | "GET /orgs/{org}/billing/orders"
  | "POST /orgs/{org}/billing/orders"
  | "GET /orgs/{org}/billing/orders/{order}"
  | "GET /orgs/{org}/billing/auto-top-up"
  | "PUT /orgs/{org}/billing/auto-top-up"
  | "POST /orgs/{org}/billing/auto-top-up/retry"
  | "DELETE /orgs/{org}/billing/card"
  | "GET /operator/payments"
  | "GET /operator/orders"
  | "POST /operator/orders/{order}/confirm";

export const moneyHandlers = ({ paymentDesk: desk, operator }: MoneyPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/billing/orders": ({ params, query }) => desk.orders(params.org, query),
  "POST /orgs/{org}/billing/orders": (call) =>
    desk.buy(call.params.org, call.body, { actor: actorOf(call), formKey: call.idempotencyKey }),
  "GET /orgs/{org}/billing/orders/{order}": ({ params }) => desk.order(params.org, params.order),
  "GET /orgs/{org}/billing/auto-top-up": ({ params }) => desk.autoTopUp(params.org),
  "PUT /orgs/{org}/billing/auto-top-up": (call) =>
    desk.setAutoTopUp(call.params.org, call.body, actorOf(call)),
  "POST /orgs/{org}/billing/auto-top-up/retry": (call) => desk.retryAutoTopUp(call.params.org, actorOf(call)),
  "DELETE /orgs/{org}/billing/card": async (call) => {
    await desk.removeCard(call.params.org, actorOf(call));
    return { done: true };
  },
  "GET /operator/payments": async ({ query }) => {
    const [names, page] = await Promise.all([namesOf({ operator }), desk.events(query)]);
    const named = (org: string | null): string | null => (org === null ? null : (names.get(org) ?? org));
    return { ...page, data: page.data.map((row) => ({ ...row, org_name: named(row.org) })) };
  },
  "GET /operator/orders": async ({ query }) => {
    const [names, page] = await Promise.all([namesOf({ operator }), desk.allOrders(query)]);
    return { ...page, data: page.data.map((row) => ({ ...row, org_name: names.get(row.org) ?? row.org })) };
  },
  "POST /operator/orders/{order}/confirm": (call) => desk.confirm(call.params.order, actorOf(call)),
});
