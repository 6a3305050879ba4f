// `payments orders|events|confirm`: payment orders of customers, and the events that the payment service reported.
import type { Command } from "commander";
import type { OrderJson } from "../src/api/shapes/billing.ts";
import type { PaymentEventJson } from "../src/api/shapes/credits.ts";
import { type Paged, paged, tellMore } from "./paged.ts";
import { confirm } from "./confirm.ts";
import { report } from "./report.ts";
import { dollars, table } from "./table.ts";

export function addPayments(program: Command): void {
  const payments = program.command("payments").description("payment orders and events");
  paged(
    payments
      .command("orders")
      .description("list an organization's payment orders, newest first")
      .requiredOption("--org <org>", "the organization's id or name"),
  ).action((query: Paged & { org: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await gateway.call("GET /admin/v1/payments/orders", query);
      tellMore(value);
      return { json: text, text: () => table(value.data, ORDER) };
    }),
  );
  paged(
    payments
      .command("events")
      .description("list events of the payment service, including those that credited nothing")
      .option("--org <org>", "only this organization's"),
  ).action((query: Paged & { org?: string }, command: Command) =>
    report(command, async (context) => {
      const gateway = await context.gateway();
      const { text, value } = await gateway.call("GET /admin/v1/payments/events", query);
      tellMore(value);
      return { json: text, text: () => table(value.data, EVENT) };
    }),
  );
  payments
    .command("confirm <order>")
    .description("credit an order that was paid by hand, once")
    .option("--yes", "do not ask")
    .action((order: string, options: { yes?: boolean }, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        await confirm(context, {
          what: "Its amount is credited permanently.",
          name: order,
          yes: options.yes,
        });
        const { text, value } = await gateway.call("POST /admin/v1/payments/orders/{order}/confirm", {
          order,
        });
        return {
          json: text,
          text: () => `Order ${value.id} of ${dollars(value.amount_usd)} is ${value.state}.`,
        };
      }),
    );
}

const ORDER = {
  ORDER: (row: OrderJson) => row.id,
  CREATED: (row: OrderJson) => row.created_at,
  PURPOSE: (row: OrderJson) => row.purpose,
  DRIVER: (row: OrderJson) => row.driver,
  AMOUNT: (row: OrderJson) => dollars(row.amount_usd),
  STATE: (row: OrderJson) => row.state,
  REASON: (row: OrderJson) => row.reason,
};

const EVENT = {
  EVENT: (row: PaymentEventJson) => row.id,
  RECEIVED: (row: PaymentEventJson) => row.received_at,
  TYPE: (row: PaymentEventJson) => row.type,
  ORDER: (row: PaymentEventJson) => row.order,
  OUTCOME: (row: PaymentEventJson) => row.outcome,
  DETAIL: (row: PaymentEventJson) => row.detail,
};
