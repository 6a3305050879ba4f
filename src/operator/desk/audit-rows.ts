// The audit log as a page: who did what, when, before and after.
import type { AppAnswer } from "../../contract/app.ts";
import type { AuditQuery, Desk } from "../../contract/desk.ts";
import type { People } from "../../contract/people.ts";
import type { Clock } from "../../lib/clock.ts";
import { numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { numberedCursor } from "./billing.ts";
import { Conditions } from "./conditions.ts";
import { windowIfAsked } from "./windows.ts";

type Row = AppAnswer<"GET /orgs/{org}/audit">["data"][number];

const PAGE = 50;
/** What the role `billing` sees. */
const MONEY = ["credits.", "order.", "auto_top_up.", "card."];

export const auditRows = (on: {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
}): Pick<Desk, "audit"> => ({
  async audit(organizationId, query, only) {
    const limit = query.limit ?? PAGE;
    const conditions = conditionsOf(organizationId, query, on.clock.nowMs());
    if (only !== null && "actor" in only) conditions.and("actor = ?", only.actor);
    if (only !== null && "money" in only)
      conditions.also(`(${MONEY.map((prefix) => `action LIKE '${prefix}%'`).join(" OR ")})`);
    const end = `ORDER BY seq DESC LIMIT ${conditions.bind(limit + 1)}`;
    const rows = await on.sql.rows(
      `SELECT * FROM audit_log ${conditions.where} ${end}`,
      ...conditions.values,
    );
    const actors = [...new Set(rows.map((row) => textOf(row["actor"])))];
    const names = new Map((await on.people.persons(actors)).map(({ id, name }) => [id, name]));
    const data = rows.slice(0, limit).map((row) => printed(row, names));
    return { data, next_cursor: rows.length > limit ? String(data.at(-1)?.n) : null };
  },
});

function conditionsOf(organizationId: string | null, query: AuditQuery, nowMs: number): Conditions {
  const { fromMs, toMs } = windowIfAsked(query, nowMs);
  return new Conditions()
    .and("org_id = ?", organizationId ?? query.org)
    .and("seq < ?", query.cursor === undefined ? undefined : numberedCursor(query.cursor))
    .and("at >= ?", fromMs)
    .and("at < ?", toMs)
    .and("actor = ?", query.actor)
    .and("action = ?", query.action)
    .and("target = ?", query.target);
}

function printed(row: SqlRow, names: ReadonlyMap<string, string>): Row {
  const actor = textOf(row["actor"]);
  return {
    n: numberOf(row["seq"]),
    at: new Date(numberOf(row["at"])).toISOString(),
    actor: { id: actor, name: names.get(actor) ?? null },
    action: textOf(row["action"]),
    org: orNull(row["org_id"], textOf),
    target: textOf(row["target"]),
    before: orNull(row["value_before"], textOf),
    after: orNull(row["value_after"], textOf),
  };
}
