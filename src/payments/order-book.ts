// Orders, cards and the events of payment services, as rows. Each change is a compare-and-set on the order's
// state, so events that are repeated, late or simultaneous change it once.
import { DAY_MS, SECOND_MS } from "../domain/durations.ts";
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { randomBase62 } from "../lib/id.ts";
import { sumColumn, sumOf } from "../store/exact-sum.ts";
import { newestRows, type Page, type PageAsk, pageOf } from "../store/page.ts";
import {
  moneyOf,
  numberOf,
  orNull,
  type Sql,
  type SqlRow,
  type Statement,
  statement,
  textOf,
} from "../store/sql.ts";
import { CURRENCY, type DriverName, type PaymentMethod, type PaymentOrder } from "./order.ts";

export interface NewOrder {
  organizationId: string;
  driver: DriverName;
  purpose: PaymentOrder["purpose"];
  amount: NanoUsd;
  createdBy: string;
  /** The form's idempotency key; one form creates one order. */
  formKey: string | null;
}

/**
 * The limit on unpaid checkouts of an organization in a day: each is a page at the service, and a line that
 * operators read.
 */
export const BEGUN_MAX = 50;
const begun = (organization: string, since: string): string =>
  `SELECT count(*) AS begun FROM payment_order AS begun WHERE begun.org_id = ${organization}
     AND begun.created_at > ${since} AND begun.purpose = 'checkout' AND begun.state <> 'credited'`;

const LISTED = { table: "payment_order", at: "created_at", id: "order_id" };

/** Amounts are in nano-USD; a change that came too late returns false and changes nothing. */
export class OrderBook {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns a new order, or the one already open for this form (for automatic orders: this organization).
   * Null if the organization does not exist or has `BEGUN_MAX` unpaid checkouts within a day. `told` is
   * written only together with a new order.
   */
  async take(
    order: NewOrder,
    nowMs: number,
    told: (orderId: string) => readonly Statement[] = () => [],
  ): Promise<{ order: PaymentOrder; fresh: boolean } | null> {
    const { organizationId, driver, purpose, amount, createdBy, formKey } = order;
    const orderId = `ord_${randomBase62(16)}`;
    const making = statement(
      `INSERT INTO payment_order (order_id, org_id, driver, purpose, amount, currency, state, created_by, created_at, form_key)
       SELECT ?1, org_id, ?3, ?4, ?5, ?6, 'open', ?7, ?8, ?9 FROM organization WHERE org_id = ?2
         AND (?4 <> 'checkout' OR (${begun("?2", "?10")}) < ${BEGUN_MAX})
       ON CONFLICT DO NOTHING`,
      orderId,
      organizationId,
      driver,
      purpose,
      amount,
      CURRENCY,
      createdBy,
      nowMs,
      formKey,
      nowMs - DAY_MS,
    );
    const fresh = await this.sql.ifChanged(making, told(orderId));
    const made = fresh ? await this.find(orderId) : null;
    if (made !== null) return { order: made, fresh };
    const earlier = await this.one(
      `org_id = ?1 AND (form_key = ?2 OR (purpose = 'auto_top_up' AND purpose = ?3 AND state = 'open'))`,
      organizationId,
      formKey,
      purpose,
    );
    return earlier === null ? null : { order: earlier, fresh: false };
  }

  /** True if an organization may not begin another checkout for now. */
  async isFull(organizationId: string, nowMs: number): Promise<boolean> {
    const [row] = await this.sql.rows(begun("?1", "?2"), organizationId, nowMs - DAY_MS);
    return numberOf(row?.["begun"]) >= BEGUN_MAX;
  }

  /** Records the session or charge that the service made for an order; only once. */
  async opened(orderId: string, at: { sessionId: string; url: string | null }): Promise<void> {
    await this.sql.rows(
      "UPDATE payment_order SET session_id = ?2, pay_url = ?3 WHERE order_id = ?1 AND session_id IS NULL",
      orderId,
      at.sessionId,
      at.url,
    );
  }

  /**
   * Marks an order as credited by the ledger and keeps the payment's id for disputes. True for the first call
   * only; only then is `told` written with it.
   */
  credited(
    orderId: string,
    paid: { sessionId: string; paymentId: string | null; told?: readonly Statement[] | undefined },
    nowMs: number,
  ): Promise<boolean> {
    const saying = statement(
      `UPDATE payment_order SET state = 'credited', reason = NULL, ended_at = ?4,
         session_id = coalesce(session_id, ?2), payment_id = coalesce(payment_id, ?3)
       WHERE order_id = ?1 AND state <> 'credited'`,
      orderId,
      paid.sessionId,
      paid.paymentId,
      nowMs,
    );
    return this.sql.ifChanged(saying, paid.told ?? []);
  }

  /** Ends an open order that was not paid; a credited order stays credited. */
  async ended(
    orderId: string,
    how: { state: "failed" | "expired"; reason: string },
    nowMs: number,
  ): Promise<boolean> {
    const rows = await this.sql.rows(
      `UPDATE payment_order SET state = ?2, reason = ?3, ended_at = ?4
       WHERE order_id = ?1 AND state = 'open' RETURNING order_id`,
      orderId,
      how.state,
      how.reason,
      nowMs,
    );
    return rows.length > 0;
  }

  find(orderId: string): Promise<PaymentOrder | null> {
    return this.one("order_id = ?1", orderId);
  }

  /** The last automatic order, in any state. */
  async lastAutomatic(organizationId: string): Promise<PaymentOrder | null> {
    const [row] = await this.sql.rows(
      `SELECT * FROM payment_order WHERE org_id = ?1 AND purpose = 'auto_top_up'
       ORDER BY created_at DESC, order_id DESC LIMIT 1`,
      organizationId,
    );
    return row === undefined ? null : orderOf(row);
  }

  openAutomatic(organizationId: string): Promise<PaymentOrder | null> {
    return this.one("org_id = ?1 AND purpose = 'auto_top_up' AND state = 'open'", organizationId);
  }

  ofSession(driver: DriverName, sessionId: string): Promise<PaymentOrder | null> {
    return this.one("driver = ?1 AND session_id = ?2", driver, sessionId);
  }

  ofPayment(driver: DriverName, paymentId: string): Promise<PaymentOrder | null> {
    return this.one("driver = ?1 AND payment_id = ?2", driver, paymentId);
  }

  /** Newest first; a null `organizationId` means all. `after` is the start of the page (store/page.ts). */
  async page(
    organizationId: string | null,
    after: { atMs: number; id: string },
    ask: Pick<PageAsk, "limit">,
  ): Promise<Page<PaymentOrder>> {
    const { limit } = ask;
    const rows = await newestRows(this.sql, LISTED, { organizationId, after, limit });
    return pageOf(rows.map(orderOf), ask, (row) => ({ atMs: row.createdAtMs, id: row.id }));
  }

  /** The sum of an organization's automatic orders since an instant, open ones included. */
  async automaticSince(organizationId: string, sinceMs: number): Promise<NanoUsd> {
    const [row] = await this.sql.rows(
      `SELECT ${sumColumn("amount", "total")} FROM payment_order
       WHERE org_id = ?1 AND purpose = 'auto_top_up' AND state IN ('open', 'credited') AND created_at >= ?2`,
      organizationId,
      sinceMs,
    );
    return nanoUsd(sumOf(row, "total"));
  }

  /** When the organization's other automatic orders, open or credited, were created. */
  async automaticBeside(order: PaymentOrder, sinceMs: number): Promise<number[]> {
    const rows = await this.sql.rows(
      `SELECT created_at FROM payment_order WHERE org_id = ?1 AND purpose = 'auto_top_up'
         AND state IN ('open', 'credited') AND created_at >= ?2 AND order_id <> ?3`,
      order.organizationId,
      sinceMs,
      order.id,
    );
    return rows.map((row) => numberOf(row["created_at"]));
  }

  /** True if the ledger has reversed money of this order under that dispute or refund. */
  async wasTakenBack(order: PaymentOrder, reversalId: string): Promise<boolean> {
    const found = await this.sql.rows(
      "SELECT 1 FROM reversal WHERE org_id = ?1 AND source = ?2 AND external_id = ?3",
      order.organizationId,
      order.driver,
      reversalId,
    );
    return found.length > 0;
  }

  /** True if the service has reversed any payment of this organization since that time. */
  async tookBackSince(driver: DriverName, organizationId: string, sinceMs: number): Promise<boolean> {
    const found = await this.sql.rows(
      "SELECT 1 FROM reversal WHERE org_id = ?1 AND kind = 'chargeback' AND source = ?2 AND at >= ?3 LIMIT 1",
      organizationId,
      driver,
      sinceMs,
    );
    return found.length > 0;
  }

  /** False if a card is already kept that was saved after this payment. */
  async keepMethod(
    method: Omit<PaymentMethod, "savedAtMs">,
    { paidAtMs, nowMs }: { paidAtMs: number; nowMs: number },
  ): Promise<boolean> {
    const { organizationId, driver, customerId, methodId, label } = method;
    const kept = await this.sql.rows(
      `INSERT INTO payment_method (org_id, driver, customer_id, method_id, label, saved_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (org_id) DO UPDATE SET driver = excluded.driver, customer_id = excluded.customer_id,
         method_id = excluded.method_id, label = excluded.label, saved_at = excluded.saved_at
       WHERE payment_method.saved_at < ?7 RETURNING org_id`,
      organizationId,
      driver,
      customerId,
      methodId,
      label,
      nowMs,
      paidAtMs + SECOND_MS,
    );
    return kept.length > 0;
  }

  forgetMethod(organizationId: string, told: readonly Statement[] = []): Promise<boolean> {
    return this.sql.ifChanged(
      statement("DELETE FROM payment_method WHERE org_id = ?1", organizationId),
      told,
    );
  }

  async method(organizationId: string): Promise<PaymentMethod | null> {
    const [row] = await this.sql.rows("SELECT * FROM payment_method WHERE org_id = ?1", organizationId);
    if (row === undefined) return null;
    return {
      organizationId,
      driver: textOf(row["driver"]) as DriverName,
      customerId: textOf(row["customer_id"]),
      methodId: textOf(row["method_id"]),
      label: textOf(row["label"]),
      savedAtMs: numberOf(row["saved_at"]),
    };
  }

  private async one(where: string, ...values: (string | null)[]): Promise<PaymentOrder | null> {
    const [row] = await this.sql.rows(`SELECT * FROM payment_order WHERE ${where}`, ...values);
    return row === undefined ? null : orderOf(row);
  }
}

const orderOf = (row: SqlRow): PaymentOrder => ({
  id: textOf(row["order_id"]),
  organizationId: textOf(row["org_id"]),
  driver: textOf(row["driver"]) as DriverName,
  purpose: textOf(row["purpose"]) as PaymentOrder["purpose"],
  amount: moneyOf(row["amount"]),
  currency: textOf(row["currency"]),
  state: textOf(row["state"]) as PaymentOrder["state"],
  sessionId: orNull(row["session_id"], textOf),
  paymentId: orNull(row["payment_id"], textOf),
  payUrl: orNull(row["pay_url"], textOf),
  reason: orNull(row["reason"], textOf),
  createdBy: textOf(row["created_by"]),
  createdAtMs: numberOf(row["created_at"]),
  endedAtMs: orNull(row["ended_at"], numberOf),
});
