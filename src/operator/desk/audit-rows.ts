// The audit log as a page: who did what, when, before and after, and from where.
import type { AppAnswer } from "../../contract/app.ts";
import type { AuditQuery, Desk } from "../../contract/desk.ts";
import type { People, Person } from "../../contract/people.ts";
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
  async audit(organizationId, query, { only, house }) {
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
    const persons = await on.people.persons(actors);
    const known: Known = {
      names: new Map(persons.map(({ id, name }) => [id, name])),
      hidden: house ? new Set() : new Set(await houseAmong(on.sql, actors, persons)),
    };
    const data = rows.slice(0, limit).map((row) => printed(row, known));
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
    .and("target = ?", query.target)
    .and(`${place} = ?`, query.line && lineAt(query.line, place));
}

const placeOf = (cursor: string, place: "seq" | "id"): string | number | undefined =>
  place === "seq" ? numberedCursor(cursor) : auditCursor(cursor);

/** An id that cannot be one is of no line. */
const lineAt = (id: string, place: "seq" | "id"): string | number =>
  place === "id" ? id : /^\d{1,15}$/.test(id) ? Number(id) : -1;

/**
 * Whoever is not a person of the organizations: management keys, services, the gateway, and those who are operators or
 * were. Fails closed: an actor that nobody knows is of the house.
 */
async function houseAmong(
  sql: Sql,
  actors: readonly string[],
  persons: readonly Person[],
): Promise<string[]> {
  const former = new Set(
    (await sql.rows("SELECT target FROM audit_log WHERE action = 'operator.remove'")).map((row) =>
      textOf(row["target"]),
    ),
  );
  const members = new Set(
    persons.filter(({ id, operator }) => !operator && !former.has(id)).map(({ id }) => id),
  );
  return actors.filter((actor) => !members.has(actor));
}

interface Known {
  names: ReadonlyMap<string, string>;
  /** Actors whose addresses are not shown. */
  hidden: ReadonlySet<string>;
}

function printed(row: SqlRow, { names, hidden }: Known): Row {
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
    address: hidden.has(actor) ? null : orNull(row["address"], textOf),
    request_id: orNull(row["request_id"], textOf),
  };
}
