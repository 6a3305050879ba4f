// The operator's three lists of money as CSV: what came and went, what was ordered, what payment services told. The same
// filter as the list; a column is a field of its rows.
import type { AppAnswer } from "../../contract/app.ts";
import type { ListAsk } from "../../contract/payment-desk.ts";
import { csvResponse } from "./csv.ts";

interface Asked {
  org?: string | undefined;
}
/** One page of a list, as its route answers it. */
type Read<List> = (asked: ListAsk & Asked) => Promise<List>;

const PAGE = 200;
const paged =
  <List>(read: Read<List>, { org }: Asked) =>
  (cursor: string | undefined): Promise<List> =>
    read({ org, cursor, limit: PAGE });
const nameOf = (what: string, { org }: Asked): string => `${what}-${org ?? "all"}`;

type Credits = AppAnswer<"GET /operator/credits">;
export const creditsCsv = (read: Read<Credits>, asked: Asked): Promise<Response> =>
  csvResponse({
    name: nameOf("credits", asked),
    columns: {
      at: (row: Credits["data"][number]) => row.at,
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
    page: paged(read, asked),
  });

type Orders = AppAnswer<"GET /operator/orders">;
/** Without the link that pays an order. */
export const ordersCsv = (read: Read<Orders>, asked: Asked): Promise<Response> =>
  csvResponse({
    name: nameOf("orders", asked),
    columns: {
      id: (row: Orders["data"][number]) => row.id,
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
    page: paged(read, asked),
  });

type Payments = AppAnswer<"GET /operator/payments">;
export const paymentsCsv = (read: Read<Payments>, asked: Asked): Promise<Response> =>
  csvResponse({
    name: nameOf("payments", asked),
    columns: {
      id: (row: Payments["data"][number]) => row.id,
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
    page: paged(read, asked),
  });
