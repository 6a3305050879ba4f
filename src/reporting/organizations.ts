// All organizations: the operator's first page.
import { HOUR_MS } from "../domain/durations.ts";
import { sql as fragment } from "kysely";
import type * as organizationsShapes from "../api/shapes/organizations.ts";
import type { z } from "zod";
import { formatUsd } from "../domain/money.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { versionOf } from "../domain/row-version.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import type { Clock } from "../lib/clock.ts";
import type { People } from "../people/people.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, isPart, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { organizationCursor } from "./cursors.ts";
import { hoursUsed } from "./hours-used.ts";

type List = z.output<typeof organizationsShapes.organizationList>;
type Organization = List["data"][number];

interface OrganizationsPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "memberCounts">;
}

const DAY_HOURS = 24;

/**
 * Ordered by id; `search` is a part of the name, or an id. Spend covers 30 days. Throws `Refusal` for a
 * cursor that no page returned.
 */
export async function organizationsPage(
  on: OrganizationsPorts,
  { search, cursor, limit = PAGE_ROWS }: z.output<typeof organizationsShapes.organizationsQuery>,
): Promise<List> {
  const query = organizations(on)
    .where((eb) =>
      eb.and([
        ...when(organizationCursor(cursor), (id) => eb("organization.org_id", ">", id)),
        ...when(search === "" ? undefined : search, (text) =>
          eb.or([isPart(eb.ref("organization.name"), text), eb("organization.org_id", "=", text)]),
        ),
      ]),
    )
    .orderBy("organization.org_id")
    .limit(limit + 1);
  const data = await printed(on, await rowsOf(on.sql, query));
  const page = data.slice(0, limit);
  return { data: page, next_cursor: data.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** Throws `OperatorRefusal` if there is none with this id. */
export async function organizationRow(on: OrganizationsPorts, id: string): Promise<Organization> {
  const query = organizations(on).where("organization.org_id", "=", id);
  const [row] = await printed(on, await rowsOf(on.sql, query));
  if (row === undefined) throw unknownRecord("organization", id, "org");
  return row;
}

/**
 * Returns the ids of organizations that share their name with another one. The store compares names without surrounding blanks and
 * without case, SQLite only that of ASCII letters; `comparableName` (domain/visible-text.ts) finds more names alike.
 */
export async function namesakes({ sql }: Pick<OrganizationsPorts, "sql">): Promise<string[]> {
  const folded = fragment<string>`lower(trim(name))`;
  const shared = from
    .selectFrom("organization")
    .select(folded.as("folded"))
    .groupBy(folded)
    .having((eb) => eb(eb.fn.countAll<bigint>(), ">", 1n));
  const query = from
    .selectFrom("organization")
    .select("org_id")
    .where(folded, "in", shared)
    .orderBy("org_id");
  return (await rowsOf(sql, query)).map(({ org_id }) => org_id);
}

const organizations = ({ sql, clock }: Pick<OrganizationsPorts, "sql" | "clock">) =>
  from
    .selectFrom("organization")
    .innerJoin("org_balance", (join) =>
      join.onRef("org_balance.org_id", "=", "organization.org_id").on("slot", "=", 0n),
    )
    .select([
      "organization.org_id",
      "organization.name",
      "organization.created_at",
      "available",
      "held",
      "debt",
      "purchased",
    ])
    .select((eb) => [
      hoursUsed(sql, eb.ref("organization.org_id"), {
        first: Math.floor(clock.nowMs() / HOUR_MS) - 30 * DAY_HOURS,
      })
        .select((eb) => exactTotal(eb.ref("charge")).as("spend"))
        .$asScalar()
        .as("spend"),
      eb
        .selectFrom("api_key")
        .whereRef("api_key.org_id", "=", "organization.org_id")
        .where((eb) => eb.or([eb("revoked_at", "is", null), eb("paused_at", "is not", null)]))
        .select((eb) => eb.fn.countAll<bigint>().as("keys"))
        .$asScalar()
        .$notNull()
        .as("keys"),
      eb
        .selectFrom("key_month")
        .whereRef("key_month.org_id", "=", "organization.org_id")
        .select((eb) => eb.fn.max<bigint | null>("last_admitted_at").as("last_at"))
        .as("last_at"),
      eb
        .selectFrom("entitlement")
        .whereRef("entitlement.org_id", "=", "organization.org_id")
        // A literal, because the index of these rows is partial.
        .where("state", "=", fragment.lit("requested"))
        .select((eb) => eb.fn.countAll<bigint>().as("asked"))
        .$asScalar()
        .$notNull()
        .as("asked"),
    ]);

type Row = Awaited<ReturnType<ReturnType<typeof organizations>["execute"]>>[number];

async function printed({ people }: Pick<OrganizationsPorts, "people">, rows: Row[]): Promise<Organization[]> {
  const members = await people.memberCounts(rows.map((row) => row.org_id));
  return rows.map((row) => ({
    id: row.org_id,
    name: row.name,
    created_at: printTime(row.created_at),
    paid_workspace: row.purchased > 0n,
    available_usd: formatUsd(row.available),
    held_usd: formatUsd(row.held),
    debt_usd: formatUsd(row.debt),
    spend_30d_usd: formatUsd(exactUsd(row.spend)),
    keys: Number(row.keys),
    members: members.get(row.org_id) ?? 0,
    last_request_at: printTimeOrNull(row.last_at),
    open_entitlements: Number(row.asked),
    version: versionOf("organization", { name: row.name }),
  }));
}
