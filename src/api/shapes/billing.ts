// Credits of one organization: the arithmetic line, open holds, the ledger page, and buying (orders, automatic top-up).
import { z } from "zod";
import { count, creditKind, listOf, page, time, usd, usdInput, version, window } from "./fields.ts";

/** Of payments. */
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
  /** How this gateway is paid; empty: only an operator grants. */
  drivers: z.array(driver),
  presets_usd: z.array(usd),
  /** What one order may be. */
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
/** `holds=true` shows hold, rest and void too; without it only what changes what an organization owns. */
export const ledgerQuery = z.strictObject({
  ...page,
  ...window,
  kind: entryKind.optional(),
  holds: z.enum(["true", "false"]).optional(),
});
const ledgerEntry = z.object({
  /** Number of the entry in the organization's ledger, counted from 1 without gaps. */
  n: count,
  at: time,
  kind: entryKind,
  /** Signed by what it does to available + held. */
  amount_usd: usd,
  available_usd: usd,
  held_usd: usd,
  /** available + held after the entry: the running balance. */
  balance_usd: usd,
  /** Null of an entry of requests, and of a debt that was paid from what they gave back. */
  reference: z.string().nullable(),
  /** Requests that this entry stands for: the entry by its number names them. */
  requests: count,
  hash: z.string(),
});
export const ledgerList = listOf(ledgerEntry).extend({
  /** Where a page ended that had looked at as many entries as one may, before it was full; what is older is on the next. */
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
/** Served by `payments`: what somebody is asked to pay. Credits appear by the payment service's event only. */
export const order = z.object({
  id: z.string(),
  org: z.string(),
  purpose: z.enum(["checkout", "auto_top_up"]),
  driver,
  amount_usd: usd,
  state: orderState,
  /** Where to pay; null when nothing is to be clicked. */
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
  /** Below what it charges: the threshold, or the amount where terms of before named a higher threshold. */
  acts_below_usd: usd.nullable(),
  spent_this_month_usd: usd,
  /** `visa •••• 4242`; null until a checkout kept one. */
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
