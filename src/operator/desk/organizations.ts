// All organizations, and all credits that ever came: the operator's first two pages.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, parseUsd } from "../../contract/money.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People } from "../../contract/people.ts";
import { Refusal } from "../../contract/refusals.ts";
import { versionOf } from "../../contract/version.ts";
import type { Clock } from "../../lib/clock.ts";
import { moneyOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { unknownRecord } from "../unknown-record.ts";
import { topUpOf } from "./billing.ts";
import { Conditions } from "./conditions.ts";
import { organizationCursor } from "./cursors.ts";
import { movesPage } from "./moves.ts";

type Organization = AppAnswer<"GET /operator/organizations">["data"][number];

export interface OrganizationsPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "memberships" | "persons">;
  operator: Pick<Operator, "credits">;
  note: Desk["note"];
}

const PAGE = 50;
const DAY_HOURS = 24;
const HOUR_MS = 3_600_000;

type Mine = Pick<Desk, "allOrganizations" | "organizationRow" | "allCredits" | "grant">;

export const organizationsDesk = (on: OrganizationsPorts): Mine => ({
  async allOrganizations({ search, cursor, limit = PAGE }) {
    const conditions = new Conditions().and("organization.org_id > ?", organizationCursor(cursor));
    if (search !== undefined && search !== "") {
      const part = conditions.bind(`%${search.toLowerCase().replace(/[!%_]/g, "!$&")}%`);
      const id = conditions.bind(search);
      conditions.also(`(lower(organization.name) LIKE ${part} ESCAPE '!' OR organization.org_id = ${id})`);
    }
    const rows = await organizationRows(on, conditions, limit + 1);
    const data = rows.slice(0, limit);
    return { data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
  async organizationRow(id) {
    const [row] = await organizationRows(on, new Conditions().and("organization.org_id = ?", id), 1);
    if (row === undefined) throw unknownRecord("organization", id, "org");
    return row;
  },
  async allCredits({ org, cursor, limit = PAGE }) {
    const { rows, nextCursor } = await movesPage(on.sql, { organizationId: org, cursor, limit });
    const makers = await grantersOf(on, rows);
    const data = rows.map((row) => ({
      ...topUpOf(row),
      org: textOf(row["org_id"]),
      org_name: textOf(row["name"]),
      by: makers(row),
    }));
    return { data, next_cursor: nextCursor };
  },
  async grant({ org, amount_usd, kind, reference, reason }, actor) {
    const amount = parseUsd(amount_usd);
    if (amount === null || amount <= 0n)
      throw new Refusal("invalid_request", "amount_usd must be above 0.", { param: "amount_usd" });
    const before = await on.operator.credits.show(org);
    const granted = await on.operator.credits.grant({ org, usd: amount_usd, kind, reference }, actor);
    if (granted.credited)
      await on.note({
        actor,
        action: "credits.reason",
        organizationId: org,
        target: reference,
        after: { reason },
      });
    return {
      org,
      reference: granted.reference,
      credited: granted.credited,
      before_usd: before.available_usd,
      after_usd: granted.balance_usd,
    };
  },
});

async function organizationRows(
  { sql, clock, people }: OrganizationsPorts,
  conditions: Conditions,
  limit: number,
): Promise<Organization[]> {
  const since = conditions.bind(Math.floor(clock.nowMs() / HOUR_MS) - 30 * DAY_HOURS);
  const end = `ORDER BY organization.org_id LIMIT ${conditions.bind(limit)}`;
  const rows = await sql.rows(
    `SELECT organization.org_id, organization.name, organization.created_at, available, held, debt, purchased,
       (SELECT COALESCE(sum(charge), 0) FROM usage_hour WHERE usage_hour.org_id = organization.org_id AND hour >= ${since}) AS spend,
       (SELECT count(*) FROM api_key WHERE api_key.org_id = organization.org_id AND revoked_at IS NULL) AS keys,
       (SELECT max(last_admitted_at) FROM key_month WHERE key_month.org_id = organization.org_id) AS last_at,
       (SELECT count(*) FROM entitlement WHERE entitlement.org_id = organization.org_id AND state = 'requested') AS asked
     FROM organization JOIN org_balance ON org_balance.org_id = organization.org_id AND slot = 0
     ${conditions.where} ${end}`,
    ...conditions.values,
  );
  const members = new Map<string, number>();
  for (const { organizationId } of await people.memberships("all"))
    members.set(organizationId, (members.get(organizationId) ?? 0) + 1);
  return rows.map((row) => organizationOf(row, members));
}

function organizationOf(row: SqlRow, members: ReadonlyMap<string, number>): Organization {
  const id = textOf(row["org_id"]);
  const name = textOf(row["name"]);
  const last = orNull(row["last_at"], numberOf);
  return {
    id,
    name,
    created_at: new Date(numberOf(row["created_at"])).toISOString(),
    paid_workspace: moneyOf(row["purchased"]) > 0n,
    available_usd: formatUsd(moneyOf(row["available"])),
    held_usd: formatUsd(moneyOf(row["held"])),
    debt_usd: formatUsd(moneyOf(row["debt"])),
    spend_30d_usd: formatUsd(moneyOf(row["spend"])),
    keys: numberOf(row["keys"]),
    members: members.get(id) ?? 0,
    last_request_at: last === null ? null : new Date(last).toISOString(),
    open_entitlements: numberOf(row["asked"]),
    version: versionOf("organization", { name }),
  };
}

type By = AppAnswer<"GET /operator/credits">["data"][number]["by"];

/** Who credited it, by the line it left in the audit log. */
async function grantersOf(
  { sql, people }: OrganizationsPorts,
  rows: readonly SqlRow[],
): Promise<(row: SqlRow) => By> {
  if (rows.length === 0) return () => null;
  const oldest = Math.min(...rows.map((row) => numberOf(row["at"])));
  const lines = await sql.rows(
    "SELECT org_id, action, target, actor FROM audit_log WHERE at >= ?1 AND action LIKE 'credits.%'",
    oldest,
  );
  const actors = new Map(
    lines.map((line) => {
      const target = textOf(line["target"]);
      // Of a reversal the line first names what was reversed.
      const reference = target.slice(Math.max(0, target.indexOf('["')));
      return [`${textOf(line["org_id"])} ${textOf(line["action"])} ${reference}`, textOf(line["actor"])];
    }),
  );
  const lineOf = (row: SqlRow): string => {
    const reference = JSON.stringify([textOf(row["source"]), textOf(row["external_id"])]);
    return `${textOf(row["org_id"])} credits.${textOf(row["kind"])} ${reference}`;
  };
  const names = new Map(
    (await people.persons([...new Set(actors.values())])).map(({ id, name }) => [id, name]),
  );
  return (row) => {
    const actor = actors.get(lineOf(row));
    return actor === undefined ? null : { id: actor, name: names.get(actor) ?? null };
  };
}
