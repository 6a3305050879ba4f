// Messages on their way. A crossing and its messages are written together, before anything is sent; who marks the rule
// first sends, so that two replicas that see it at once send once.
import { DAY_MS } from "../domain/durations.ts";
import type { AlertKind } from "../domain/alert-kinds.ts";
import { randomBase62 } from "../lib/id.ts";
import { type Page, type PageAsk, pageOf } from "../store/page.ts";
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
import type { Channel, Delivery, Rule } from "./alert.ts";
import { DASHBOARD } from "./alert.ts";
import { asRead, valuesOf } from "./rule-book.ts";

export interface OutboxMessage {
  organizationId: string;
  ruleId: string | null;
  kind: AlertKind | "test";
  text: string;
  /** The exact body of a delivery, which names its id. */
  payload(deliveryId: string): string;
}

export interface Tried {
  atMs: number;
  durationMs: number;
  status: number | null;
  error: string | null;
}

/** A claimed delivery that nobody reports on is tried again after this time. */
const CLAIM_MS = 60_000;
/** At `?1`, of channels of the kind `?2`; what a damaged row names no channel for goes with the webhooks. */
const DUE = `SELECT d.org_id, d.delivery_id, d.next_try_at FROM alert_delivery d
  LEFT JOIN alert_channel c ON c.channel_id = d.channel_id AND c.org_id = d.org_id
  WHERE d.state = 'waiting' AND d.next_try_at <= ?1 AND (CASE WHEN c.kind = 'mail' THEN 'mail' ELSE 'webhook' END) = ?2`;
const KEPT_MS = 90 * DAY_MS;
const SWEPT_AT_ONCE = 1_000;

export class Outbox {
  constructor(private readonly sql: Sql) {}

  /**
   * The rule as it is now, for the first to notice: its messages wait for delivery then. Null where another was first, and
   * where the rule was edited or has fired since it was read. Who writes holds the rule's row, so that an edit comes before,
   * and counts, or after, and starts from silence.
   */
  async crossed(rule: Rule, subject: string, message: OutboxMessage, nowMs: number): Promise<Rule | null> {
    // Each time later than the last: it tells, too, whether the rule has fired since.
    const firedAtMs = Math.max(nowMs, (rule.lastFiredAtMs ?? 0) + 1);
    const first = await this.sql.ifChanged(
      statement(
        `UPDATE alert_rule SET last_fired_at = ?2 WHERE rule_id = ?1 AND last_fired_at IS NOT DISTINCT FROM ?3
           AND NOT EXISTS (SELECT 1 FROM alert_state WHERE alert_state.rule_id = ?1 AND subject = ?4) AND ${asRead(5)}`,
        rule.id,
        firedAtMs,
        rule.lastFiredAtMs,
        subject,
        ...valuesOf(rule),
      ),
      [
        statement(
          "INSERT INTO alert_state (rule_id, subject, crossing_id, since) VALUES (?1, ?2, ?3, ?4)",
          rule.id,
          subject,
          `crs_${randomBase62(16)}`,
          nowMs,
        ),
        ...[DASHBOARD, ...rule.channels].map((channel) => delivery(message, { channel, nowMs })),
      ],
    );
    return first ? { ...rule, lastFiredAtMs: firedAtMs } : null;
  }

  /** The condition no longer holds: the next crossing is news again. One that was told since is another one. */
  async cleared(crossingId: string): Promise<void> {
    await this.sql.rows("DELETE FROM alert_state WHERE crossing_id = ?1", crossingId);
  }

  /** What the rules of these organizations fire about now: by rule, each subject's crossing. */
  async firing(organizationIds: readonly string[]): Promise<Map<string, Map<string, string>>> {
    const rows = await this.sql.rows(
      `SELECT alert_state.rule_id, subject, crossing_id FROM alert_state
       JOIN alert_rule ON alert_rule.rule_id = alert_state.rule_id
       WHERE org_id IN (${placesFrom(1, organizationIds)})`,
      ...organizationIds,
    );
    const byRule = new Map<string, Map<string, string>>();
    for (const row of rows) {
      const ruleId = textOf(row["rule_id"]);
      const subjects = byRule.get(ruleId) ?? new Map<string, string>();
      byRule.set(ruleId, subjects.set(textOf(row["subject"]), textOf(row["crossing_id"])));
    }
    return byRule;
  }

  /** One message for one channel. */
  async send(message: OutboxMessage, channel: string, nowMs: number): Promise<Delivery> {
    const id = `msg_${randomBase62(20)}`;
    await this.sql.together([delivery(message, { channel, nowMs, id })]);
    const found = await this.find(message.organizationId, id);
    if (found === null) throw new Error(`delivery ${id} was not written`);
    return found;
  }

  /** Messages on all channels since an instant, those on the dashboard included. */
  async messagesSince(organizationId: string, sinceMs: number): Promise<number> {
    const [row] = await this.sql.rows(
      "SELECT count(*) AS messages FROM alert_delivery WHERE org_id = ?1 AND created_at > ?2",
      organizationId,
      sinceMs,
    );
    return numberOf(row?.["messages"]);
  }

  /** Tests that somebody asked for since an instant. */
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

  /** Organizations with something due for channels of this kind, whose oldest has waited for longest first. */
  async waiting(nowMs: number, kind: Channel["kind"]): Promise<string[]> {
    const rows = await this.sql.rows(
      `SELECT org_id, min(next_try_at) AS since FROM (${DUE}) AS due GROUP BY org_id ORDER BY since, org_id`,
      nowMs,
      kind,
    );
    return rows.map((row) => textOf(row["org_id"]));
  }

  /**
   * Takes what is due, each for one sender; the try counts from here, so that a crash cannot try for ever. One message of
   * each organization comes before the second of any.
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

  /** How a try went, and when there is another one. */
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

  /** Newest first. `after` is the page's start (store/page.ts). */
  async page(
    organizationId: string,
    after: { atMs: number; id: string },
    ask: Pick<PageAsk, "limit">,
  ): Promise<Page<Delivery>> {
    const rows = await this.sql.rows(
      `SELECT * FROM alert_delivery
       WHERE org_id = ?1 AND (created_at < ?2 OR (created_at = ?2 AND delivery_id < ?3))
       ORDER BY created_at DESC, delivery_id DESC LIMIT ?4`,
      organizationId,
      after.atMs,
      after.id,
      ask.limit + 1,
    );
    return pageOf(rows.map(deliveryOf), ask, (row) => ({ atMs: row.createdAtMs, id: row.id }));
  }

  /** Deletes some messages of long ago, with their tries. */
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

/** The dashboard's list has its message as soon as the row is there. */
function delivery(
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
