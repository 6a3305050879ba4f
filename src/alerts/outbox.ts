// Outgoing messages: written before anything is sent, claimed by one sender at a time, kept with the outcome
// of each try.
import { DAY_MS } from "../domain/durations.ts";
import type { AlertKind } from "../domain/alert-kinds.ts";
import { randomBase62 } from "../lib/id.ts";
import { newestRows, type Page, type PageAsk, pageOf } from "../store/page.ts";
import {
  numberOf,
  orNull,
  placesFrom,
  type Sql,
  type SqlRow,
  type Statement,
  statement,
  textOf,
} from "../store/sql.ts";
import { type Channel, DASHBOARD, type Delivery } from "./alert.ts";

/**
 * A message before it is addressed to a channel: each channel gets its own delivery, whose id is in the
 * payload.
 */
export interface OutboxMessage {
  organizationId: string;
  ruleId: string | null;
  kind: AlertKind | "test";
  text: string;
  /** The exact body of a delivery, which contains its id. */
  payload(deliveryId: string): string;
}

/**
 * The outcome of one try; without an `error` it was delivered. `status` is the HTTP status, if there was a
 * response.
 */
export interface Tried {
  atMs: number;
  durationMs: number;
  status: number | null;
  error: string | null;
}

/** A claimed delivery without a recorded outcome is retried after this time. */
const CLAIM_MS = 60_000;
/** Deliveries due at `?1` for channels of kind `?2`; a damaged row without a channel is returned with the webhooks. */
const DUE = `SELECT d.org_id, d.delivery_id, d.next_try_at FROM alert_delivery d
  LEFT JOIN alert_channel c ON c.channel_id = d.channel_id AND c.org_id = d.org_id
  WHERE d.state = 'waiting' AND d.next_try_at <= ?1 AND (CASE WHEN c.kind = 'mail' THEN 'mail' ELSE 'webhook' END) = ?2`;
const KEPT_MS = 90 * DAY_MS;
const SWEPT_AT_ONCE = 1_000;

const LISTED = { table: "alert_delivery", at: "created_at", id: "delivery_id" };

export class Outbox {
  constructor(private readonly sql: Sql) {}

  /** Writes one message for one channel. */
  async send(message: OutboxMessage, channel: string, nowMs: number): Promise<Delivery> {
    const id = `msg_${randomBase62(20)}`;
    await this.sql.together([delivery(message, { channel, nowMs, id })]);
    const found = await this.find(message.organizationId, id);
    if (found === null) throw new Error(`delivery ${id} was not written`);
    return found;
  }

  /** The number of messages on all channels since an instant, including the dashboard's. */
  async messagesSince(organizationId: string, sinceMs: number): Promise<number> {
    const [row] = await this.sql.rows(
      "SELECT count(*) AS messages FROM alert_delivery WHERE org_id = ?1 AND created_at > ?2",
      organizationId,
      sinceMs,
    );
    return numberOf(row?.["messages"]);
  }

  /** The number of requested test messages since an instant. */
  async testsSince(organizationId: string, sinceMs: number): Promise<number> {
    const [row] = await this.sql.rows(
      "SELECT count(*) AS tests FROM alert_delivery WHERE org_id = ?1 AND created_at > ?2 AND kind = 'test'",
      organizationId,
      sinceMs,
    );
    return numberOf(row?.["tests"]);
  }

  async find(organizationId: string, deliveryId: string): Promise<Delivery | null> {
    const [row] = await this.sql.rows(
      "SELECT * FROM alert_delivery WHERE delivery_id = ?1 AND org_id = ?2",
      deliveryId,
      organizationId,
    );
    return row === undefined ? null : deliveryOf(row);
  }

  /** Organizations with something due for channels of this kind; the one waiting longest comes first. */
  async waiting(nowMs: number, kind: Channel["kind"]): Promise<string[]> {
    const rows = await this.sql.rows(
      `SELECT org_id, min(next_try_at) AS since FROM (${DUE}) AS due GROUP BY org_id ORDER BY since, org_id`,
      nowMs,
      kind,
    );
    return rows.map((row) => textOf(row["org_id"]));
  }

  /**
   * Claims due deliveries for one sender. The try counts from here, so that crashes cannot cause endless
   * tries. One message of each organization comes before the second of any.
   */
  async claim(
    nowMs: number,
    {
      kind,
      organizationIds,
      atOnce,
      ofOneOrganization,
    }: {
      kind: Channel["kind"];
      organizationIds: readonly string[];
      atOnce: number;
      ofOneOrganization: number;
    },
  ): Promise<Delivery[]> {
    const rows = await this.sql.rows(
      `UPDATE alert_delivery SET tries = tries + 1, next_try_at = ?3
       WHERE delivery_id IN (SELECT delivery_id FROM (
           SELECT delivery_id, next_try_at, row_number() OVER (PARTITION BY org_id ORDER BY next_try_at) AS place
           FROM (${DUE}) AS due WHERE org_id IN (${placesFrom(6, organizationIds)})) AS placed
         WHERE place <= ?5 ORDER BY place, next_try_at LIMIT ?4)
         AND state = 'waiting' AND next_try_at <= ?1
       RETURNING *`,
      nowMs,
      kind,
      nowMs + CLAIM_MS,
      atOnce,
      ofOneOrganization,
      ...organizationIds,
    );
    return rows.map(deliveryOf);
  }

  /** Records the outcome of a try, and when the next one is. */
  async tried(
    claimed: Delivery,
    how: Tried,
    next: { state: "delivered" | "failed" } | { state: "waiting"; atMs: number },
  ): Promise<void> {
    await this.sql.together([
      statement(
        `UPDATE alert_delivery SET state = ?2, status = ?3, error = ?4, next_try_at = ?5
         WHERE delivery_id = ?1 AND state = 'waiting'`,
        claimed.id,
        next.state,
        how.status,
        how.error,
        next.state === "waiting" ? next.atMs : null,
      ),
      statement(
        `INSERT INTO alert_attempt (delivery_id, n, at, duration_ms, status, error) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO NOTHING`,
        claimed.id,
        claimed.tries,
        how.atMs,
        Math.round(how.durationMs),
        how.status,
        how.error,
      ),
    ]);
  }

  /** Newest first. `after` is the start of the page (store/page.ts). */
  async page(
    organizationId: string,
    after: { atMs: number; id: string },
    ask: Pick<PageAsk, "limit">,
  ): Promise<Page<Delivery>> {
    const { limit } = ask;
    const rows = await newestRows(this.sql, LISTED, { organizationId, after, limit });
    return pageOf(rows.map(deliveryOf), ask, (row) => ({ atMs: row.createdAtMs, id: row.id }));
  }

  /** Deletes a batch of old messages with their tries. */
  async sweep(nowMs: number): Promise<void> {
    const old = `SELECT delivery_id FROM alert_delivery WHERE created_at < ?1 AND state <> 'waiting'
      ORDER BY created_at, delivery_id LIMIT ${SWEPT_AT_ONCE}`;
    await this.sql.together([
      statement(`DELETE FROM alert_attempt WHERE delivery_id IN (${old})`, nowMs - KEPT_MS),
      statement(`DELETE FROM alert_delivery WHERE delivery_id IN (${old})`, nowMs - KEPT_MS),
    ]);
  }

  async attempts(deliveryId: string): Promise<Tried[]> {
    const rows = await this.sql.rows(
      "SELECT * FROM alert_attempt WHERE delivery_id = ?1 ORDER BY n",
      deliveryId,
    );
    return rows.map((row) => ({
      atMs: numberOf(row["at"]),
      durationMs: numberOf(row["duration_ms"]),
      status: orNull(row["status"], numberOf),
      error: orNull(row["error"], textOf),
    }));
  }
}

/** Writes a message for one channel. The dashboard's list shows it as soon as the row exists. */
export function delivery(
  message: OutboxMessage,
  {
    channel,
    nowMs,
    id = `msg_${randomBase62(20)}`,
  }: {
    channel: string;
    nowMs: number;
    id?: string;
  },
): Statement {
  const listed = channel === DASHBOARD;
  return statement(
    `INSERT INTO alert_delivery (delivery_id, org_id, rule_id, channel_id, kind, text, payload, state, tries, created_at, next_try_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10)`,
    id,
    message.organizationId,
    message.ruleId,
    channel,
    message.kind,
    message.text,
    message.payload(id),
    listed ? "delivered" : "waiting",
    nowMs,
    listed ? null : nowMs,
  );
}

const deliveryOf = (row: SqlRow): Delivery => ({
  id: textOf(row["delivery_id"]),
  organizationId: textOf(row["org_id"]),
  ruleId: orNull(row["rule_id"], textOf),
  channelId: textOf(row["channel_id"]),
  kind: textOf(row["kind"]) as Delivery["kind"],
  text: textOf(row["text"]),
  payload: textOf(row["payload"]),
  state: textOf(row["state"]) as Delivery["state"],
  tries: numberOf(row["tries"]),
  status: orNull(row["status"], numberOf),
  error: orNull(row["error"], textOf),
  createdAtMs: numberOf(row["created_at"]),
  nextTryAtMs: orNull(row["next_try_at"], numberOf),
});
