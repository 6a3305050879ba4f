// Credits granted and refunded by operators, and the payments behind purchases.
import { z } from "zod";
import { PAGE_ROWS_MAX } from "../domain/page-rows.ts";
import { creditsPage, refundableOf } from "../reporting/credits.ts";
import { assertOrganizationAsked, organizationNames } from "../reporting/organization-names.ts";
import { type CsvFile, csvFile, type CsvTable } from "./csv.ts";
import { endpoint } from "./endpoint.ts";
import type { Rooms } from "./rooms.ts";
import { order, orderList, pageQuery } from "./shapes/billing.ts";
import { id, orgId } from "./shapes/fields.ts";
import * as shapes from "./shapes/credits.ts";
import * as inputs from "./shapes/record-inputs.ts";
import { balanceSchema, grantSchema, refundSchema } from "./shapes/records.ts";

export const creditsEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/credits",
    who: "operate",
    input: shapes.creditsQuery,
    output: shapes.creditList,
    run: async ({ input }, rooms) => {
      await assertOrganizationAsked(rooms.reports.sql, input.org);
      return await creditsPage(rooms.reports, input);
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/credits.csv",
    who: "operate",
    input: shapes.creditsCsvQuery,
    output: "csv",
    run: ({ input }, rooms) =>
      fileOf(rooms, "credits", input, {
        read: (asked) => creditsPage(rooms.reports, asked),
        columns: {
          at: (row: z.output<typeof shapes.creditList>["data"][number]) => row.at,
          org: (row) => row.org,
          org_name: (row) => row.org_name,
          kind: (row) => row.kind,
          amount_usd: (row) => row.amount_usd,
          source: (row) => row.source,
          reference: (row) => row.reference,
          balance_after_usd: (row) => row.balance_after_usd,
          by: (row) => row.by?.id ?? null,
          by_name: (row) => row.by?.name ?? null,
        },
      }),
  }),
  endpoint({
    target: "POST /app/v1/operator/credits",
    who: "operate",
    input: shapes.grantInput,
    output: shapes.granted,
    status: 201,
    audit: "credits.grant",
    run: ({ input, caller }, { changes }) => changes.grant(input, caller.actor),
  }),
  endpoint({
    target: "GET /app/v1/operator/requests/{request}",
    who: "operate",
    input: z.strictObject({ request: id }),
    output: shapes.refundable,
    run: ({ input }, { reports }) => refundableOf(reports, input.request),
  }),
  endpoint({
    target: "POST /app/v1/operator/refunds",
    who: "operate",
    input: shapes.refundInput,
    output: shapes.refunded,
    status: 201,
    audit: "credits.refund",
    run: ({ input, caller }, { changes }) => changes.refund(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/credits",
    who: "operate",
    summary: "Credit an organization, once per reference",
    input: inputs.grantCreditsInput,
    output: grantSchema,
    audit: "credits.grant",
    run: ({ input, caller }, { operator }) => operator.credits.grant(input, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/credits",
    who: "operate",
    summary: "Show an organization's credits",
    input: z.strictObject({ org: orgId }),
    output: balanceSchema,
    run: ({ input }, { operator }) => operator.credits.show(input.org),
  }),
  endpoint({
    target: "GET /admin/v1/credits/list",
    who: "operate",
    summary:
      "List the credits and chargebacks of one organization or of all, with the person responsible, newest first",
    input: shapes.creditsQuery.extend({ org: orgId.optional() }),
    output: shapes.creditList,
    run: ({ input }, { operator }) => operator.credits.list(input),
  }),
  endpoint({
    target: "POST /admin/v1/credits/refund",
    who: "operate",
    summary: "Refund a settled request, in whole or in part, once per reference",
    input: inputs.refundCreditsInput,
    output: refundSchema,
    audit: "credits.refund",
    run: ({ input, caller }, { operator }) => operator.credits.refund(input, caller.actor),
  }),
] as const;

export const paymentsEndpoints = [
  endpoint({
    target: ["GET /app/v1/orgs/{org}/billing/orders", "GET /admin/v1/payments/orders"],
    who: "billing.see",
    summary: "List an organization's payment orders, newest first",
    input: pageQuery.extend({ org: orgId }),
    output: orderList,
    run: async ({ input: { org, ...asked } }, { operator }) => {
      await operator.organizations.assertThere(org);
      return operator.payments.orders(org, asked);
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/payments",
    who: "operate",
    input: shapes.creditsQuery,
    output: shapes.paymentEventRowList,
    run: async ({ input }, rooms) => {
      await assertOrganizationAsked(rooms.reports.sql, input.org);
      return await eventsOf(rooms, input);
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/payments.csv",
    who: "operate",
    input: shapes.creditsCsvQuery,
    output: "csv",
    run: ({ input }, rooms) =>
      fileOf(rooms, "payments", input, {
        read: (asked) => eventsOf(rooms, asked),
        columns: {
          id: (row: z.output<typeof shapes.paymentEventRowList>["data"][number]) => row.id,
          driver: (row) => row.driver,
          type: (row) => row.type,
          org: (row) => row.org,
          org_name: (row) => row.org_name,
          order: (row) => row.order,
          outcome: (row) => row.outcome,
          detail: (row) => row.detail,
          deliveries: (row) => row.deliveries,
          received_at: (row) => row.received_at,
        },
      }),
  }),
  endpoint({
    target: "GET /app/v1/operator/orders",
    who: "operate",
    input: shapes.creditsQuery,
    output: shapes.orderRowList,
    run: async ({ input }, rooms) => {
      await assertOrganizationAsked(rooms.reports.sql, input.org);
      return await ordersOf(rooms, input);
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/orders.csv",
    who: "operate",
    input: shapes.creditsCsvQuery,
    output: "csv",
    run: ({ input }, rooms) =>
      fileOf(rooms, "orders", input, {
        read: (asked) => ordersOf(rooms, asked),
        // Without the link that pays an order.
        columns: {
          id: (row: z.output<typeof shapes.orderRowList>["data"][number]) => row.id,
          org: (row) => row.org,
          org_name: (row) => row.org_name,
          purpose: (row) => row.purpose,
          driver: (row) => row.driver,
          amount_usd: (row) => row.amount_usd,
          state: (row) => row.state,
          reason: (row) => row.reason,
          created_by: (row) => row.created_by,
          created_at: (row) => row.created_at,
          ended_at: (row) => row.ended_at,
        },
      }),
  }),
  endpoint({
    target: [
      "POST /app/v1/operator/orders/{order}/confirm",
      "POST /admin/v1/payments/orders/{order}/confirm",
    ],
    who: "operate",
    summary: "Credit a manually paid order, once",
    input: inputs.paymentOrderParams,
    output: order,
    audit: "order.confirm",
    run: ({ input, caller }, { operator }) => operator.payments.confirm(input.order, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/payments/events",
    who: "operate",
    summary: "List events of the payment service with their outcomes, newest first",
    input: inputs.paymentEventsQuery,
    output: shapes.paymentEventList,
    run: async ({ input }, { operator }) => {
      if (input.org !== undefined) await operator.organizations.assertThere(input.org);
      return operator.payments.events(input);
    },
  }),
] as const;

type Asked = z.output<typeof shapes.creditsQuery>;

/** The same filter as the list; a column is a field of its rows. */
async function fileOf<Row>(
  { reports }: Rooms,
  what: string,
  { org }: Pick<Asked, "org">,
  {
    read,
    columns,
  }: Pick<CsvTable<Row>, "columns"> & {
    read: (asked: Asked) => Promise<{ data: Row[]; next_cursor: string | null }>;
  },
): Promise<CsvFile> {
  await assertOrganizationAsked(reports.sql, org);
  return await csvFile({
    name: `${what}-${org ?? "all"}`,
    columns,
    page: (cursor) => read({ org, cursor, limit: PAGE_ROWS_MAX }),
  });
}

async function eventsOf(rooms: Rooms, asked: Asked): Promise<z.output<typeof shapes.paymentEventRowList>> {
  const page = await rooms.payments.events(asked);
  const names = await organizationNames(
    rooms.reports.sql,
    page.data.flatMap(({ org }) => org ?? []),
  );
  const named = (org: string | null): string | null => (org === null ? null : (names.get(org) ?? org));
  return { ...page, data: page.data.map((row) => ({ ...row, org_name: named(row.org) })) };
}

async function ordersOf(rooms: Rooms, asked: Asked): Promise<z.output<typeof shapes.orderRowList>> {
  const page = await rooms.payments.allOrders(asked);
  const names = await organizationNames(
    rooms.reports.sql,
    page.data.map(({ org }) => org),
  );
  return { ...page, data: page.data.map((row) => ({ ...row, org_name: names.get(row.org) ?? row.org })) };
}
