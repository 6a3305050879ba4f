// What usage is grouped by, and what people call the groups.
import type { People } from "../people/people.ts";
import type { Sql } from "../store/sql.ts";
import { makersOf } from "./key-makers.ts";
import type { LabelBook } from "./labels.ts";
import type { Group, UsageCell } from "./usage-cell.ts";

export interface GroupNames {
  /** Null where a cell belongs to no group. */
  of(cell: UsageCell): string | null;
  label(group: string | null): string;
}

export interface GroupsPorts {
  sql: Sql;
  people: Pick<People, "persons">;
  labels: LabelBook;
}

export async function namesOf(
  on: GroupsPorts,
  organizationId: string,
  { group, cells }: { group: Group; cells: readonly UsageCell[] },
): Promise<GroupNames> {
  if (group === "provider" || group === "region") {
    const releases = await on.labels.releasesOf(cells.flatMap(({ digest }) => digest ?? []));
    const of = ({ digest }: UsageCell) => releases.get(digest ?? "")?.[group] ?? null;
    return { of, label: (name) => name ?? "–" };
  }
  if (group === "model") return { of: ({ model }) => model, label: (name) => name ?? "–" };
  const used = [...new Set(cells.map(({ key }) => key))];
  if (group === "member") return await byMember(on, used);
  const keys = await on.labels.keysOf(organizationId, used);
  return group === "key"
    ? { of: ({ key }) => key, label: (id) => (id === null ? "–" : (keys.get(id)?.name ?? id)) }
    : { of: ({ key }) => keys.get(key)?.scope ?? null, label: (scope) => scope ?? "–" };
}

async function byMember(
  on: Pick<GroupsPorts, "people" | "sql">,
  used: readonly string[],
): Promise<GroupNames> {
  const makers = await makersOf(on.sql, used);
  const ids = [...new Set(makers.values())];
  const people = new Map((await on.people.persons(ids)).map(({ id, name }) => [id, name]));
  // Keys of the command line belong to no member: one group.
  return {
    of: ({ key }) => {
      const maker = makers.get(key);
      return maker !== undefined && people.has(maker) ? maker : null;
    },
    label: (id) => (id === null ? "not by a member" : (people.get(id) ?? id)),
  };
}
