// Names of organizations, for rows that only have ids: reads only the requested ones.
import { printTime } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { from, rowOf, rowsOf } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";

/** By id; unknown ids have no entry. */
export async function organizationNames(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const some of inHundreds([...new Set(ids)])) {
    const query = from.selectFrom("organization").select(["org_id", "name"]).where("org_id", "in", some);
    for (const { org_id, name } of await rowsOf(sql, query)) names.set(org_id, name);
  }
  return names;
}

/** The id of the organization created first; null while there is none. */
export async function firstOrganization(sql: Sql): Promise<string | null> {
  const query = from
    .selectFrom("organization")
    .select("org_id")
    .orderBy("created_at")
    .orderBy("org_id")
    .limit(1);
  return (await rowOf(sql, query))?.org_id ?? null;
}

/** Null if there is none with this id. */
export async function organizationNamed(
  sql: Sql,
  id: string,
): Promise<{ name: string; created_at: string } | null> {
  const query = from.selectFrom("organization").select(["name", "created_at"]).where("org_id", "=", id);
  const row = await rowOf(sql, query);
  return row === undefined ? null : { name: row.name, created_at: printTime(row.created_at) };
}

/** Throws if a filter names an organization that does not exist; undefined: there is no filter. */
export async function assertOrganizationAsked(sql: Sql, org: string | undefined): Promise<void> {
  if (org !== undefined && (await organizationNamed(sql, org)) === null)
    throw unknownRecord("organization", org, "org");
}
