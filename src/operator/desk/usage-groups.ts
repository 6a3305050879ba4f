// What usage is grouped by, and what people call the groups.
import type { People } from "../../contract/people.ts";
import { type Sql, textOf } from "../../store/sql.ts";
import type { Desk } from "../../contract/desk.ts";
import type { LabelBook } from "./labels.ts";
import type { UsageCell, UsagePorts } from "./usage.ts";

export const usageGroups =
  (on: {
    sql: Sql;
    keyMakers: Desk["keyMakers"];
    people: Pick<People, "persons">;
    labels: LabelBook;
  }): UsagePorts["namesOf"] =>
  async (organizationId, group, cells) => {
    if (group === "provider" || group === "region") {
      const releases = await on.labels.releasesOf(cells.flatMap(({ digest }) => digest ?? []));
      const of = ({ digest }: UsageCell) => releases.get(digest ?? "")?.[group] ?? null;
      return { of, label: (name) => name ?? "–" };
    }
    if (group === "model") return { of: ({ model }) => model, label: (name) => name ?? "–" };
    const rows = await on.sql.rows(
      "SELECT key_id, name, scope FROM api_key WHERE org_id = ?1",
      organizationId,
    );
    const keys = new Map(
      rows.map((row) => [textOf(row["key_id"]), { name: textOf(row["name"]), scope: textOf(row["scope"]) }]),
    );
    if (group === "key")
      return { of: ({ key }) => key, label: (id) => (id === null ? "–" : (keys.get(id)?.name ?? id)) };
    if (group === "scope")
      return { of: ({ key }) => keys.get(key)?.scope ?? null, label: (scope) => scope ?? "–" };
    const makers = new Map((await on.keyMakers(organizationId)).map(({ keyId, maker }) => [keyId, maker]));
    const ids = [...new Set(makers.values())].filter((id) => id !== null);
    const people = new Map((await on.people.persons(ids)).map(({ id, name }) => [id, name]));
    // Keys of the command line belong to no member: one group.
    return {
      of: ({ key }) => {
        const maker = makers.get(key) ?? null;
        return maker !== null && people.has(maker) ? maker : null;
      },
      label: (id) => (id === null ? "not by a member" : (people.get(id) ?? id)),
    };
  };
