// The audit log as a page: who did what, when, before and after, and from where.
import { type Expression, type ExpressionBuilder, sql as fragment, type SqlBool } from "kysely";
import type * as alertsShapes from "../api/shapes/alerts.ts";
import type { z } from "zod";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import type { People, Person } from "../people/people.ts";
import type { Clock } from "../lib/clock.ts";
import { printTime } from "../domain/print.ts";
import { from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { type AuditNames, auditNames, managementKeyNames } from "./audit-targets.ts";
import { auditCursor, numberedCursor } from "./cursors.ts";
import { windowIfAsked } from "./windows.ts";

export type AuditQuery = z.output<typeof alertsShapes.auditQuery>;
type Row = z.output<typeof alertsShapes.auditList>["data"][number];

/** What the caller may see of the audit log. */
export interface AuditSight {
  /** Null shows all lines. */
  only: { actor: string } | { money: true } | null;
  /** Whether addresses of the platform are shown: operators, management keys, services. */
  platform: boolean;
}

/** The actions that the role `billing` sees. */
const MONEY = ["credits.", "order.", "auto_top_up.", "card."];

/** One page of the log: of an organization, or (null) of all of them and the platform. */
export async function auditPage(
  on: AuditPorts,
  organizationId: string | null,
  { query, sight: { only, platform } }: { query: AuditQuery; sight: AuditSight },
): Promise<z.output<typeof alertsShapes.auditList>> {
  const limit = query.limit ?? PAGE_ROWS;
  const { fromMs, toMs } = windowIfAsked(query, on.clock.nowMs());
  const rows = await rowsOf(
    on.sql,
    from
      .selectFrom("audit_log")
      .selectAll()
      .where((eb) => {
        const { before, at } = placesIn(on.sql, eb);
        return eb.and([
          ...when(organizationId ?? query.org, (org) => eb("org_id", "=", org)),
          ...when(query.cursor, before),
          ...when(fromMs, (ms) => eb("at", ">=", BigInt(ms))),
          ...when(toMs, (ms) => eb("at", "<", BigInt(ms))),
          ...when(query.actor, (actor) => eb("actor", "=", actor)),
          ...when(query.action, (action) => eb("action", "=", action)),
          ...when(query.target, (target) => eb("target", "=", target)),
          ...when(query.line, at),
          ...(only !== null && "actor" in only ? [eb("actor", "=", only.actor)] : []),
          ...(only !== null && "money" in only
            ? [eb.or(MONEY.map((prefix) => eb("action", "like", `${prefix}%`)))]
            : []),
        ]);
      })
      .orderBy(on.sql.dialect === "sqlite" ? "seq" : "id", "desc")
      .limit(limit + 1),
  );
  if (rows.length === 0) return { data: [], next_cursor: null };
  const actors = [...new Set(rows.map((row) => row.actor))];
  const persons = await on.people.persons(actors);
  const shown = rows.slice(0, limit);
  const known: Known = {
    ...(await auditNames(on, shown)),
    names: new Map([
      ...(platform ? await managementKeyNames(on.sql, actors) : []),
      ...persons.map(({ id, name }) => [id, name] as const),
    ]),
    hidden: platform ? new Set() : new Set(await ofPlatform(on.sql, actors, persons)),
  };
  const data = shown.map((row) => printed(row, known));
  return { data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}

interface AuditPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
}

type Condition = Expression<SqlBool>;

/**
 * The log's order: a number on SQLite, on PostgreSQL an id that begins with its time. An invalid id matches
 * no line.
 */
const placesIn = (
  { dialect }: Sql,
  eb: ExpressionBuilder<Tables, "audit_log">,
): { before: (cursor: string) => Condition; at: (id: string) => Condition } =>
  dialect === "sqlite"
    ? {
        before: (cursor) => eb("seq", "<", BigInt(numberedCursor(cursor))),
        at: (id) => eb("seq", "=", /^\d{1,15}$/.test(id) ? BigInt(id) : -1n),
      }
    : {
        before: (cursor) => eb("id", "<", auditCursor(cursor)),
        at: (id) => eb("id", "=", id),
      };

/**
 * Actors who are not people of the organizations: management keys, services, the gateway, and current or
 * former operators. Fails closed: an unknown actor counts as the platform.
 */
async function ofPlatform(
  sql: Sql,
  actors: readonly string[],
  persons: readonly Person[],
): Promise<string[]> {
  const removed = from
    .selectFrom("audit_log")
    .select("target")
    .where("action", "=", fragment.lit("operator.remove"))
    .where("target", "in", actors);
  const former = new Set((await rowsOf(sql, removed)).map((row) => row.target));
  const members = new Set(
    persons.filter(({ id, operator }) => !operator && !former.has(id)).map(({ id }) => id),
  );
  return actors.filter((actor) => !members.has(actor));
}

interface Known extends AuditNames {
  names: ReadonlyMap<string, string>;
  /** Actors whose addresses are not shown. */
  hidden: ReadonlySet<string>;
}

const printed = (row: Tables["audit_log"], { names, targets, organizations, hidden }: Known): Row => ({
  id: String(row.seq ?? row.id),
  at: printTime(row.at),
  actor: { id: row.actor, name: names.get(row.actor) ?? null },
  action: row.action,
  org: row.org_id,
  org_name: row.org_id === null ? null : (organizations.get(row.org_id) ?? null),
  target: row.target,
  target_name: targets.get(row.target) ?? null,
  before: row.value_before,
  after: row.value_after,
  address: hidden.has(row.actor) ? null : row.address,
  request_id: row.request_id,
});
