// Credits of one organization: the balance calculation, open holds, the ledger page, and purchases (orders,
// automatic top-up).
import { z } from "zod";
import { count, creditKind, listOf, page, time, usd, usdInput, version, window } from "./fields.ts";

/** The payment driver. */
const driver = z.enum(["stripe", "manual", "test"]);

/** purchases + grants + refunds − charges − chargebacks = available + held − debt; `drift` is 0.000000000 or a bug. */
export const billing = z.object({
  purchases_usd: usd,
  grants_usd: usd,
  refunds_usd: usd,
  charges_usd: usd,
  chargebacks_usd: usd,
  available_usd: usd,
  held_usd: usd,
  debt_usd: usd,
  drift_usd: usd,
  paid_workspace: z.boolean(),
  open_holds: count,
  /** This gateway's payment drivers; empty means that only an operator grants credits. */
  drivers: z.array(driver),
  presets_usd: z.array(usd),
  /** The limits on one order. */
  minimum_usd: usd,
  maximum_usd: usd,
});

const hold = z.object({
  request: z.string(),
  key: z.object({ id: z.string(), name: z.string() }),
  model: z.string(),
  amount_usd: usd,
  admitted_at: time,
  deadline_at: time,
});
export const holdList = listOf(hold);

export const entryKind = z.enum([
  "hold",
  "lower",
  "charge",
  "rest",
  "void",
  "variance",
  "purchase",
  "grant",
  "debt_paid",
  "refund",
  "chargeback",
  "chargeback_debt",
]);
/**
 * `holds=true` also shows hold, rest and void; otherwise only entries that change what an organization owns.
 */
export const ledgerQuery = z.strictObject({
  ...page,
  ...window,
  kind: entryKind.optional(),
  holds: z.enum(["true", "false"]).optional(),
});
const ledgerEntry = z.object({
  /** The entry's number in the organization's ledger, counted from 1 without gaps. */
  n: count,
  at: time,
  kind: entryKind,
  /** Signed by its effect on available + held. */
  amount_usd: usd,
  available_usd: usd,
  held_usd: usd,
  /** available + held after the entry: the running balance. */
  balance_usd: usd,
  /** Null for an entry of requests, and for a debt paid from what requests gave back. */
  reference: z.string().nullable(),
  /** The number of requests in this entry; the entry's own endpoint lists them. */
  requests: count,
  hash: z.string(),
});
export const ledgerList = listOf(ledgerEntry).extend({
  /**
   * Where the page ended if it reached the limit of entries to search before it was full; older ones are on
   * the next page.
   */
  searched_to: time.nullable(),
});

const topUp = z.object({
  at: time,
  kind: creditKind,
  amount_usd: usd,
  source: z.string(),
  reference: z.string(),
  balance_after_usd: usd,
});
export const topUpList = listOf(topUp);

const orderState = z.enum(["open", "credited", "failed", "expired"]);
/** Served by `payments`: what somebody is asked to pay. Only the payment service's event credits it. */
export const order = z.object({
  id: z.string(),
  org: z.string(),
  purpose: z.enum(["checkout", "auto_top_up"]),
  driver,
  amount_usd: usd,
  state: orderState,
  /** Where to pay; null if there is no page. */
  pay_url: z.string().nullable(),
  reason: z.string().nullable(),
  created_by: z.string(),
  created_at: time,
  ended_at: time.nullable(),
});
export const orderList = listOf(order);
export const orderInput = z.strictObject({ amount_usd: usdInput, keep_card: z.boolean().default(false) });

export const autoTopUp = z.object({
  on: z.boolean(),
  threshold_usd: usd.nullable(),
  amount_usd: usd.nullable(),
  monthly_cap_usd: usd.nullable(),
  /** It charges below this balance: the threshold, or the amount if older terms have a higher threshold. */
  acts_below_usd: usd.nullable(),
  spent_this_month_usd: usd,
  /** `visa •••• 4242`; null until a checkout saves one. */
  card: z.string().nullable(),
  last_failure: z.object({ at: time, reason: z.string(), order: z.string().nullable() }).nullable(),
  version,
});
export const autoTopUpInput = z.strictObject({
  on: z.boolean(),
  threshold_usd: usdInput,
  amount_usd: usdInput,
  monthly_cap_usd: usdInput.nullable(),
  version,
});

export const pageQuery = z.strictObject({ ...page });

export type OrderJson = z.output<typeof order>;
export type AutoTopUpJson = z.output<typeof autoTopUp>;
