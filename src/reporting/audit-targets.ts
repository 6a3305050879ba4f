// Names for the targets of audit lines, so that a line reads as a sentence: those of one page, with one
// lookup by id per kind. Targets that no longer exist have no name.
import type { People } from "../people/people.ts";
import { from, rowsOf } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import { organizationNames } from "./organization-names.ts";

interface Line {
  action: string;
  target: string;
  org_id: string | null;
}

interface TargetPorts {
  sql: Sql;
  people: Pick<People, "persons">;
}

export interface AuditNames {
  /** By id of any kind. */
  targets: ReadonlyMap<string, string>;
  organizations: ReadonlyMap<string, string>;
}

type Names = readonly (readonly [id: string, name: string])[];
type LookUp = (on: TargetPorts, ids: string[]) => Promise<Names>;

/**
 * By the part of an action before the dot. Other targets are shown by id or are names themselves (a route).
 */
const LOOK_UPS: Readonly<Record<string, LookUp>> = {
  key: async ({ sql }, ids) =>
    (await rowsOf(sql, from.selectFrom("api_key").select(["key_id", "name"]).where("key_id", "in", ids))).map(
      ({ key_id, name }) => [key_id, name],
    ),
  management_key: ({ sql }, ids) => managementKeyNames(sql, ids),
  alert_channel: async ({ sql }, ids) =>
    (
      await rowsOf(
        sql,
        from.selectFrom("alert_channel").select(["channel_id", "name"]).where("channel_id", "in", ids),
      )
    ).map(({ channel_id, name }) => [channel_id, name]),
  entitlement: async ({ sql }, ids) =>
    (await rowsOf(sql, from.selectFrom("entitlement").select(["id", "model"]).where("id", "in", ids))).map(
      ({ id, model }) => [id, model],
    ),
  limits: async (on, ids) => [
    ...((await LOOK_UPS["key"]?.(on, ids)) ?? []),
    ...(await organizationNames(on.sql, ids)),
  ],
  member: persons,
  operator: persons,
  person: persons,
};

/** For these ids; unknown ones are left out. */
export async function managementKeyNames(sql: Sql, ids: readonly string[]): Promise<Names> {
  const found: [string, string][] = [];
  for (const some of inHundreds(ids)) {
    const query = from.selectFrom("management_key").select(["id", "name"]).where("id", "in", some);
    for (const { id, name } of await rowsOf(sql, query)) found.push([id, name]);
  }
  return found;
}

async function persons({ people }: TargetPorts, ids: string[]): Promise<Names> {
  return (await people.persons(ids)).map(({ id, name }) => [id, name] as const);
}

/** Targets that no longer exist have no name. */
export async function auditNames(on: TargetPorts, lines: readonly Line[]): Promise<AuditNames> {
  const byNoun = Map.groupBy(lines, ({ action }) => action.slice(0, action.indexOf(".")));
  const found = await Promise.all(
    [...byNoun].map(async ([noun, of]) => {
      const lookUp = LOOK_UPS[noun];
      if (lookUp === undefined) return [];
      const ids = [...new Set(of.map(({ target }) => target))];
      return (await Promise.all(inHundreds(ids).map((some) => lookUp(on, some)))).flat();
    }),
  );
  const owners = lines.flatMap(({ org_id }) => (org_id === null ? [] : [org_id]));
  return { targets: new Map(found.flat()), organizations: await organizationNames(on.sql, owners) };
}
