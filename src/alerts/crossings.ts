// Records which rule fires about which subject. A crossing and its messages are written together, before anything is
// sent. The replica that marks the rule first sends, so that two replicas that see a crossing at the same time send one
// message.
import { randomBase62 } from "../lib/id.ts";
import { placesFrom, type Sql, statement, textOf } from "../store/sql.ts";
import { DASHBOARD, type Rule } from "./alert.ts";
import { delivery, type OutboxMessage } from "./outbox.ts";
import { asRead, valuesOf } from "./rule-book.ts";

/** Marks rules as firing about a subject, or as silent again; only the first to write sends messages. */
export class Crossings {
  constructor(private readonly sql: Sql) {}

  /**
   * Records a crossing and its waiting messages; returns the current rule to the first to notice. Null if
   * another was first, or if the rule was edited or has fired since it was read. The writer locks the rule's
   * row, so an edit either comes before and counts, or comes after and starts from silence.
   */
  async crossed(rule: Rule, subject: string, message: OutboxMessage, nowMs: number): Promise<Rule | null> {
    // Always later than the last: it also shows whether the rule has fired since.
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

  /**
   * The condition no longer holds: the next crossing is news again. A crossing recorded since has another id
   * and stays.
   */
  async cleared(crossingId: string): Promise<void> {
    await this.sql.rows("DELETE FROM alert_state WHERE crossing_id = ?1", crossingId);
  }

  /** What the rules of these organizations currently fire about: crossing ids by subject, by rule. */
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
}
