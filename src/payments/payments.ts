// The payments room, composed of the store, the ledger's till and one driver. The driver is loaded on first
// use: most gateway processes never take a payment.
import type { From } from "../domain/actor.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { Sql, Statement } from "../store/sql.ts";
import { AutoTopUpBook } from "./auto-top-up-book.ts";
import { topUpOne, topUpWhatRunsLow } from "./auto-top-up.ts";
import { type Checkout, type CheckoutAsk, startCheckout } from "./checkout.ts";
import type { PaymentDriver } from "./driver.ts";
import { EventLog } from "./event-log.ts";
import type { DriverName, PaymentOrder } from "./order.ts";
import { OrderBook } from "./order-book.ts";
import { creditOrder, type WebhookDelivery, receive, type Till, type Verdict } from "./receive.ts";
import { orderDeclined } from "./settle-order.ts";
import { holdAutomatic, holdWhatRunsLow } from "./taken-back.ts";

export interface PaymentPorts {
  sql: Sql;
  till: Till;
  availableOf: (organizationId: string) => Promise<NanoUsd | null>;
  nowMs(): number;
  driverName: DriverName;
  loadDriver(): Promise<PaymentDriver>;
  limits: { minimum: NanoUsd; maximum: NanoUsd };
}

/** What other rooms call. */
export class Payments {
  readonly orders: OrderBook;
  readonly events: EventLog;
  readonly automatic: AutoTopUpBook;

  constructor(private readonly on: PaymentPorts) {
    this.orders = new OrderBook(on.sql);
    this.events = new EventLog(on.sql);
    this.automatic = new AutoTopUpBook(on.sql);
  }

  get driver(): DriverName {
    return this.on.driverName;
  }

  get limits(): PaymentPorts["limits"] {
    return this.on.limits;
  }

  /** Creates an order and the page to pay it on. Throws `ServiceFailure`. */
  async checkout(ask: CheckoutAsk): Promise<Checkout> {
    return startCheckout({ ...(await this.ports()), limits: this.on.limits }, ask);
  }

  /** Handles one delivery of a payment service. Throws `WebhookRefusal` or `ServiceFailure`. */
  async receive(delivery: WebhookDelivery): Promise<Verdict> {
    const ports = await this.ports();
    return receive(
      {
        ...ports,
        automatic: {
          declined: (order, reason) => orderDeclined(ports, order, reason),
          mayTryAgain: (organizationId, paidAtMs) => this.automatic.succeeded(organizationId, paidAtMs),
          takingBack: (order, of) => holdAutomatic(ports, order, of),
          tookBack: (order) => holdWhatRunsLow(ports, order),
        },
      },
      delivery,
    );
  }

  /** Records that the operator has received the money of a manual order; once, whatever the reference. */
  async confirm(
    order: PaymentOrder,
    { reference, from, told }: { reference: string; from: From; told: readonly Statement[] },
  ): Promise<"credited" | "repeated" | "refused"> {
    const { orders } = this;
    const paid = { sessionId: order.id, paymentId: reference, from, told };
    return creditOrder({ orders, till: this.on.till, nowMs: () => this.on.nowMs() }, order, paid);
  }

  /** One round of automatic top-ups. */
  async runAutomatic(failed: (error: unknown) => void): Promise<void> {
    if (this.on.driverName === "manual") return;
    if ((await this.automatic.due(this.on.nowMs())).length === 0) return;
    await topUpWhatRunsLow(await this.ports(), failed);
  }

  /** Runs the next try now, at a person's request. */
  async retryAutomatic(organizationId: string, from: From): Promise<void> {
    const wish = await this.automatic.retry(organizationId, this.on.nowMs());
    if (wish?.enabled === true) await topUpOne(await this.ports(), wish, from);
  }

  private async ports() {
    const { till, availableOf } = this.on;
    return {
      driver: await this.on.loadDriver(),
      orders: this.orders,
      events: this.events,
      book: this.automatic,
      till,
      availableOf,
      nowMs: () => this.on.nowMs(),
    };
  }
}
