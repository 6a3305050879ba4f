// Organizations whose names look alike.
import { comparableName } from "../../src/domain/visible-text.ts";

/** Ids of organizations that share their name with another one. */
export type Namesakes = ReadonlySet<string>;

/** Among those that a person belongs to. */
export function namesakesOf(organizations: readonly { id: string; name: string }[]): Namesakes {
  const byName = Map.groupBy(organizations, ({ name }) => comparableName(name));
  return new Set([...byName.values()].flatMap((all) => (all.length > 1 ? all.map(({ id }) => id) : [])));
}
