// What organizations are called, for rows that only know their ids.
import type { Operator } from "../../contract/operator.ts";

export const namesOf = async (on: {
  operator: Pick<Operator, "organizations">;
}): Promise<ReadonlyMap<string, string>> =>
  new Map((await on.operator.organizations.list()).data.map(({ id, name }) => [id, name]));
