// What usage is grouped by, and the names of the groups.
import type { People } from "../people/people.ts";
import type { Sql } from "../store/sql.ts";
import { makersOf } from "./key-makers.ts";
import type { LabelBook } from "./labels.ts";
import type { Group, UsageCell } from "./usage-cells.ts";

export interface Grouping {
  /** Null if a cell belongs to no group. */
  of(cell: UsageCell): string | null;
  /** Display names of these groups. */
  labels(groups: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The label for no group. */
  none: string;
}

export interface GroupsPorts {
  sql: Sql;
  people: Pick<People, "persons">;
  labels: LabelBook;
}

/** Assigns cells to groups; names are read only for the groups shown. */
export async function groupingOf(
  on: GroupsPorts,
  organizationId: string,
  { group, cells }: { group: Group; cells: readonly UsageCell[] },
): Promise<Grouping> {
  if (group === "provider" || group === "region") {
    const releases = await on.labels.releasesOf(cells.flatMap(({ digest }) => digest ?? []));
    const of = ({ digest }: UsageCell) => releases.get(digest ?? "")?.[group] ?? null;
    return { of, labels: asTheyAre, none: "–" };
  }
  if (group === "model") return { of: ({ model }) => model, labels: asTheyAre, none: "–" };
  if (group === "key")
    return {
      of: ({ key }) => key,
      labels: async (ids) =>
        new Map([...(await on.labels.keysOf(organizationId, ids))].map(([id, { name }]) => [id, name])),
      none: "–",
    };
  const used = [...new Set(cells.map(({ key }) => key))];
  if (group === "member") return await byMember(on, used);
  const keys = await on.labels.keysOf(organizationId, used);
  return { of: ({ key }) => keys.get(key)?.scope ?? null, labels: asTheyAre, none: "–" };
}

const asTheyAre = async (): Promise<ReadonlyMap<string, string>> => new Map();

async function byMember(on: Pick<GroupsPorts, "people" | "sql">, used: readonly string[]): Promise<Grouping> {
  const makers = await makersOf(on.sql, used);
  const ids = [...new Set(makers.values())];
  const people = new Map((await on.people.persons(ids)).map(({ id, name }) => [id, name]));
  // Keys of the command line belong to no member: one group.
  return {
    of: ({ key }) => {
      const maker = makers.get(key);
      return maker !== undefined && people.has(maker) ? maker : null;
    },
    labels: async () => people,
    none: "not by a member",
  };
}
