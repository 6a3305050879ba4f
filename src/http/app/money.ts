// Buying credits, automatic top-up, and the operators' view of payments: thin over the desk of `src/operator/payments`.
import type { AppAnswer } from "../../contract/app.ts";
import type { Operator } from "../../contract/operator.ts";
import type { ListAsk, PaymentDesk } from "../../contract/payment-desk.ts";
import { actorOf, type Handlers } from "./call.ts";
import { ordersCsv, paymentsCsv } from "./credits-csv.ts";
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
  | "GET /operator/payments.csv"
  | "GET /operator/orders"
  | "GET /operator/orders.csv"
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
  "GET /operator/payments": ({ query }) => payments({ desk, operator }, query),
  "GET /operator/payments.csv": ({ query }) =>
    paymentsCsv((page) => payments({ desk, operator }, page), query),
  "GET /operator/orders": ({ query }) => orders({ desk, operator }, query),
  "GET /operator/orders.csv": ({ query }) => ordersCsv((page) => orders({ desk, operator }, page), query),
  "POST /operator/orders/{order}/confirm": (call) => desk.confirm(call.params.order, actorOf(call)),
});

type Asked = ListAsk & { org?: string | undefined };
type Lists = Pick<MoneyPorts, "operator"> & { desk: PaymentDesk };

async function payments(
  { desk, operator }: Lists,
  asked: Asked,
): Promise<AppAnswer<"GET /operator/payments">> {
  const [names, page] = await Promise.all([namesOf({ operator }), desk.events(asked)]);
  const named = (org: string | null): string | null => (org === null ? null : (names.get(org) ?? org));
  return { ...page, data: page.data.map((row) => ({ ...row, org_name: named(row.org) })) };
}

async function orders({ desk, operator }: Lists, asked: Asked): Promise<AppAnswer<"GET /operator/orders">> {
  const [names, page] = await Promise.all([namesOf({ operator }), desk.allOrders(asked)]);
  return { ...page, data: page.data.map((row) => ({ ...row, org_name: names.get(row.org) ?? row.org })) };
}
