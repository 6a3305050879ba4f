// Every verified event of a payment service with its outcome: what an operator looks at when money was seen
// but not credited. One row per event; repeated deliveries are counted.
import { newestRows, type Page, type PageAsk, pageOf } from "../store/page.ts";
import { numberOf, orNull, type Sql, type SqlRow, textOf } from "../store/sql.ts";
import type { DriverName } from "./order.ts";

export type EventOutcome =
  | "credited"
  | "repeated"
  | "failed"
  | "expired"
  | "taken_back"
  | "returned"
  /** Not ours, or nothing that we act on. */
  | "ignored"
  /** It contradicts our order; nothing was credited. */
  | "refused"
  /** It arrived before the event that it follows; the service sends it again. */
  | "too_early";

export interface EventRecord {
  driver: DriverName;
  id: string;
  type: string;
  organizationId: string | null;
  orderId: string | null;
  outcome: EventOutcome;
  detail: string | null;
  deliveries: number;
  receivedAtMs: number;
}

export type Noted = Omit<EventRecord, "deliveries" | "receivedAtMs">;

const LISTED = { table: "payment_event", at: "received_at", id: "event_id" };

/** Records the outcomes of events. Decides nothing: money follows orders. */
export class EventLog {
  constructor(private readonly sql: Sql) {}

  /** Records the newest outcome, but a repeated delivery does not overwrite a credit or a reversal. */
  async note(event: Noted, nowMs: number): Promise<void> {
    await this.sql.rows(
      `INSERT INTO payment_event (driver, event_id, type, org_id, order_id, outcome, detail, deliveries, received_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8)
       ON CONFLICT (driver, event_id) DO UPDATE SET deliveries = payment_event.deliveries + 1,
         outcome = CASE WHEN excluded.outcome = 'repeated' THEN payment_event.outcome ELSE excluded.outcome END,
         detail = excluded.detail, org_id = excluded.org_id, order_id = excluded.order_id`,
      event.driver,
      event.id,
      event.type,
      event.organizationId,
      event.orderId,
      event.outcome,
      event.detail,
      nowMs,
    );
  }

  /**
   * Records that an event reports money moved by a dispute or refund, before it is booked, and returns the
   * number of such events: a dispute can take its money again after returning it, each time with a new event.
   */
  async countMove(
    event: Pick<Noted, "driver" | "id" | "type">,
    reversalId: string,
    nowMs: number,
  ): Promise<number> {
    const { driver, id, type } = event;
    await this.sql.rows(
      `INSERT INTO payment_event (driver, event_id, type, outcome, deliveries, received_at, reversal_id)
       VALUES (?1, ?2, ?3, 'repeated', 0, ?4, ?5)
       ON CONFLICT (driver, event_id) DO UPDATE SET reversal_id = excluded.reversal_id`,
      driver,
      id,
      type,
      nowMs,
      reversalId,
    );
    return await this.moves(driver, reversalId, type);
  }

  /** The number of events of this type for that dispute or refund. */
  async moves(driver: DriverName, reversalId: string, type: string): Promise<number> {
    const [row] = await this.sql.rows(
      "SELECT count(*) AS moves FROM payment_event WHERE driver = ?1 AND reversal_id = ?2 AND type = ?3",
      driver,
      reversalId,
      type,
    );
    return numberOf(row?.["moves"]);
  }

  /** Newest first; a null `organizationId` means all. `after` is the start of the page (store/page.ts). */
  async page(
    organizationId: string | null,
    after: { atMs: number; id: string },
    ask: Pick<PageAsk, "limit">,
  ): Promise<Page<EventRecord>> {
    const { limit } = ask;
    const rows = await newestRows(this.sql, LISTED, { organizationId, after, limit });
    return pageOf(rows.map(eventOf), ask, (row) => ({ atMs: row.receivedAtMs, id: row.id }));
  }
}

const eventOf = (row: SqlRow): EventRecord => ({
  driver: textOf(row["driver"]) as DriverName,
  id: textOf(row["event_id"]),
  type: textOf(row["type"]),
  organizationId: orNull(row["org_id"], textOf),
  orderId: orNull(row["order_id"], textOf),
  outcome: textOf(row["outcome"]) as EventOutcome,
  detail: orNull(row["detail"], textOf),
  deliveries: numberOf(row["deliveries"]),
  receivedAtMs: numberOf(row["received_at"]),
});
