// Billing: the arithmetic line, open holds, the statement, top-ups. Buying is served by `payments`.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import type { PaymentDesk } from "../../contract/payment-desk.ts";
import type { Handlers } from "./call.ts";
import { csvResponse } from "./csv.ts";

export interface BillingPorts {
  desk: Pick<Desk, "billing" | "holds" | "ledgerPage" | "topUps">;
  paymentDesk: Pick<PaymentDesk, "terms">;
}

type Routes =
  | "GET /orgs/{org}/billing"
  | "GET /orgs/{org}/billing/holds"
  | "GET /orgs/{org}/billing/ledger"
  | "GET /orgs/{org}/billing/ledger.csv"
  | "GET /orgs/{org}/billing/top-ups";

const PRESETS = ["10.000000000", "50.000000000", "200.000000000", "1000.000000000"];
const PAGE = 200;

export const billingHandlers = ({ desk, paymentDesk }: BillingPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/billing": async ({ params }) => {
    const { driver, ...bounds } = paymentDesk.terms();
    return { ...(await desk.billing(params.org)), drivers: [driver], presets_usd: PRESETS, ...bounds };
  },
  "GET /orgs/{org}/billing/holds": ({ params, query }) => desk.holds(params.org, query),
  "GET /orgs/{org}/billing/ledger": ({ params, query }) => desk.ledgerPage(params.org, query),
  "GET /orgs/{org}/billing/ledger.csv": async ({ params, query }) =>
    csvResponse({
      name: `ledger-${params.org}-${query.range ?? query.from ?? "all"}`,
      columns: {
        n: (row: AppAnswer<"GET /orgs/{org}/billing/ledger">["data"][number]) => row.n,
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
      page: (cursor) => desk.ledgerPage(params.org, { ...query, cursor, limit: PAGE }),
    }),
  "GET /orgs/{org}/billing/top-ups": ({ params, query }) => desk.topUps(params.org, query),
});
