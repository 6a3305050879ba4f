// Credits of one organization: what is left of them and why, open holds, the ledger, purchases.
import { z } from "zod";
import { PAGE_ROWS_MAX } from "../domain/page-rows.ts";
import { billingSums, firstEntryAsked, ledgerPage, openHolds, topUpsPage } from "../reporting/billing.ts";
import { csvFile, windowFileName } from "./csv.ts";
import { standingWindow } from "../reporting/windows.ts";
import { endpoint } from "./endpoint.ts";
import * as shapes from "./shapes/billing.ts";
import { DONE, done, id } from "./shapes/fields.ts";

const PRESETS = ["10.000000000", "50.000000000", "200.000000000", "1000.000000000"];
const ofOrganization = { org: id };
const organization = z.strictObject(ofOrganization);
const page = shapes.pageQuery.extend(ofOrganization);

export const billingEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing",
    who: "billing.see",
    input: organization,
    output: shapes.billing,
    run: async ({ input }, { reports, payments }) => {
      const { driver, ...bounds } = payments.terms();
      return {
        ...(await billingSums(reports, input.org)),
        drivers: [driver],
        presets_usd: PRESETS,
        ...bounds,
      };
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/holds",
    who: "billing.see",
    input: page,
    output: shapes.holdList,
    run: ({ input: { org, ...asked } }, { reports }) => openHolds(reports, org, asked),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/ledger",
    who: "billing.see",
    input: shapes.ledgerQuery.extend(ofOrganization),
    output: shapes.ledgerList,
    run: ({ input: { org, ...query } }, { reports }) => ledgerPage(reports, org, query),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/ledger.csv",
    who: "billing.see",
    input: shapes.ledgerQuery.extend(ofOrganization),
    output: "csv",
    run: async ({ input: { org, ...asked } }, { reports }) => {
      const query = standingWindow(asked, reports.clock.nowMs());
      const lowest = await firstEntryAsked(reports, org, query);
      return await csvFile({
        name: windowFileName("ledger", org, asked),
        columns: {
          n: (row: z.output<typeof shapes.ledgerList>["data"][number]) => row.n,
          at: (row) => row.at,
          kind: (row) => row.kind,
          amount_usd: (row) => row.amount_usd,
          available_usd: (row) => row.available_usd,
          held_usd: (row) => row.held_usd,
          balance_usd: (row) => row.balance_usd,
          reference: (row) => row.reference,
          requests: (row) => row.requests,
          hash: (row) => row.hash,
        },
        page: (cursor) => ledgerPage(reports, org, { ...query, cursor, limit: PAGE_ROWS_MAX }, { lowest }),
      });
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/top-ups",
    who: "billing.see",
    input: page,
    output: shapes.topUpList,
    run: ({ input: { org, ...asked } }, { reports }) => topUpsPage(reports.sql, org, asked),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/billing/orders",
    who: "billing.change",
    input: shapes.orderInput.extend(ofOrganization),
    output: shapes.order,
    status: 201,
    audit: "order.create",
    run: ({ input: { org, ...order }, caller, exchange }, { payments }) =>
      payments.buy(org, order, { actor: caller.actor, formKey: exchange.idempotencyKey }),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/orders/{order}",
    who: "billing.see",
    input: z.strictObject({ org: id, order: id }),
    output: shapes.order,
    run: ({ input }, { payments }) => payments.order(input.org, input.order),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/auto-top-up",
    who: "billing.see",
    input: organization,
    output: shapes.autoTopUp,
    run: ({ input }, { payments }) => payments.autoTopUp(input.org),
  }),
  endpoint({
    target: "PUT /app/v1/orgs/{org}/billing/auto-top-up",
    who: "billing.change",
    input: shapes.autoTopUpInput.extend(ofOrganization),
    output: shapes.autoTopUp,
    audit: "auto_top_up.set",
    run: ({ input: { org, ...terms }, caller }, { payments }) =>
      payments.setAutoTopUp(org, terms, caller.actor),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/billing/auto-top-up/retry",
    who: "billing.change",
    input: organization,
    output: shapes.order,
    audit: "auto_top_up.retry",
    run: ({ input, caller }, { payments }) => payments.retryAutoTopUp(input.org, caller.actor),
  }),
  endpoint({
    target: "DELETE /app/v1/orgs/{org}/billing/card",
    who: "billing.change",
    input: organization,
    output: done,
    audit: "card.remove",
    run: async ({ input, caller }, { payments }) => {
      await payments.removeCard(input.org, caller.actor);
      return DONE;
    },
  }),
] as const;
