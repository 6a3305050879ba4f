// Who made which key: the actor of the line that its creation left in the audit log.
import type { Desk } from "../../contract/desk.ts";

import { type Clock, utcMonth } from "../../lib/clock.ts";
import { moneyOf, orNull, type Sql, textOf } from "../../store/sql.ts";

export const keyMakers = (sql: Sql, clock: Clock): Pick<Desk, "keyMakers"> => ({
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
});
