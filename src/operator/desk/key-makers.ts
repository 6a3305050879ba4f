// Who made which key (the actor of the line that its creation left in the audit log), and what a key did in a day.
import type { Desk } from "../../contract/desk.ts";
import { formatUsd } from "../../contract/money.ts";
import { type Clock, utcMonth } from "../../lib/clock.ts";
import { moneyOf, numberOf, orNull, type Sql, textOf } from "../../store/sql.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";

const DAY_MS = 86_400_000;

export const keyMakers = (sql: Sql, clock: Clock): Pick<Desk, "credentialOf" | "keyDay" | "keyMakers"> => ({
  async keyMakers(organizationId) {
    const rows = await sql.rows(
      `SELECT api_key.key_id, api_key.revoked_at, audit_log.actor, COALESCE(key_month.spent, 0) AS spent
       FROM api_key
       LEFT JOIN audit_log ON audit_log.org_id = api_key.org_id AND audit_log.target = api_key.key_id
         AND audit_log.action = 'key.create'
       LEFT JOIN key_month ON key_month.org_id = api_key.org_id AND key_month.key_id = api_key.key_id
         AND key_month.month = ?2
       WHERE api_key.org_id = ?1`,
      organizationId,
      utcMonth(clock.nowMs()),
    );
    return rows.map((row) => ({
      keyId: textOf(row["key_id"]),
      maker: orNull(row["actor"], textOf),
      monthSpend: moneyOf(row["spent"]),
      revoked: row["revoked_at"] !== null,
    }));
  },
  async credentialOf(organizationId, keyId) {
    const [row] = await sql.rows(
      "SELECT digest FROM api_key WHERE org_id = ?1 AND key_id = ?2",
      organizationId,
      keyId,
    );
    return row === undefined ? null : { organizationId, keyId, digest: row["digest"] as Uint8Array };
  },
  async keyDay(organizationId, keyId) {
    const since = sinceRequest(clock.nowMs() - DAY_MS);
    const rows = await sql.rows(
      `SELECT model, count(*) AS requests, sum(charge) AS charge,
         sum(CASE WHEN ${stillRuns(sql)} THEN 1 ELSE 0 END) AS running
       FROM request WHERE org_id = ?1 AND request_id >= ?3 AND key_id = ?2 GROUP BY model ORDER BY charge DESC, model`,
      organizationId,
      keyId,
      since,
    );
    return {
      last_day: rows.map((row) => ({
        model: textOf(row["model"]),
        requests: numberOf(row["requests"]),
        charge_usd: formatUsd(moneyOf(row["charge"])),
      })),
      open_holds: rows.reduce((sum, row) => sum + numberOf(row["running"]), 0),
    };
  },
});
