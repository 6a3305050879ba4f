// The audit log as a page: who did what, when, before and after.
import type { AppAnswer } from "../../contract/app.ts";
import type { AuditQuery, Desk } from "../../contract/desk.ts";
import type { People } from "../../contract/people.ts";
import type { Clock } from "../../lib/clock.ts";
import { numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { Conditions } from "./conditions.ts";
import { auditCursor, numberedCursor } from "./cursors.ts";
import { windowIfAsked } from "./windows.ts";

type Row = AppAnswer<"GET /orgs/{org}/audit">["data"][number];

const PAGE = 50;
/** What the role `billing` sees. */
const MONEY = ["credits.", "order.", "auto_top_up.", "card."];

export const auditRows = (on: AuditPorts): Pick<Desk, "audit"> => ({
  async audit(organizationId, query, only) {
    const limit = query.limit ?? PAGE;
    const conditions = conditionsOf(on, organizationId, query);
    if (only !== null && "actor" in only) conditions.and("actor = ?", only.actor);
    if (only !== null && "money" in only)
      conditions.also(`(${MONEY.map((prefix) => `action LIKE '${prefix}%'`).join(" OR ")})`);
    const end = `ORDER BY ${placeIn(on.sql)} DESC LIMIT ${conditions.bind(limit + 1)}`;
    const rows = await on.sql.rows(
      `SELECT * FROM audit_log ${conditions.where} ${end}`,
      ...conditions.values,
    );
    const actors = [...new Set(rows.map((row) => textOf(row["actor"])))];
    const names = new Map((await on.people.persons(actors)).map(({ id, name }) => [id, name]));
    const data = rows.slice(0, limit).map((row) => printed(row, names));
    return { data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
});

interface AuditPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
}

/** What orders the log: a number on SQLite, on PostgreSQL an id that begins with its time. */
const placeIn = ({ dialect }: Sql): "seq" | "id" => (dialect === "sqlite" ? "seq" : "id");

function conditionsOf(
  { sql, clock }: AuditPorts,
  organizationId: string | null,
  query: AuditQuery,
): Conditions {
  const { fromMs, toMs } = windowIfAsked(query, clock.nowMs());
  const place = placeIn(sql);
  return new Conditions()
    .and("org_id = ?", organizationId ?? query.org)
    .and(`${place} < ?`, query.cursor && placeOf(query.cursor, place))
    .and("at >= ?", fromMs)
    .and("at < ?", toMs)
    .and("actor = ?", query.actor)
    .and("action = ?", query.action)
    .and("target = ?", query.target);
}

const placeOf = (cursor: string, place: "seq" | "id"): string | number | undefined =>
  place === "seq" ? numberedCursor(cursor) : auditCursor(cursor);

function printed(row: SqlRow, names: ReadonlyMap<string, string>): Row {
  const actor = textOf(row["actor"]);
  return {
    id: String(row["seq"] ?? row["id"]),
    at: new Date(numberOf(row["at"])).toISOString(),
    actor: { id: actor, name: names.get(actor) ?? null },
    action: textOf(row["action"]),
    org: orNull(row["org_id"], textOf),
    target: textOf(row["target"]),
    before: orNull(row["value_before"], textOf),
    after: orNull(row["value_after"], textOf),
  };
}
