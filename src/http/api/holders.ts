// Lists who holds a role in an organization, as a sentence for a member whose role was refused: the people to ask.
import type { People } from "../../people/people.ts";
import { allowance, type Action, ROLES } from "../../domain/roles.ts";

/** How many are named; the rest are only counted. */
const NAMED = 3;

/** Owners first, and within a role in the order of joining. Empty if nobody has such a role. */
export async function holders(
  people: Pick<People, "memberships" | "persons">,
  organizationId: string,
  may: Action,
): Promise<string> {
  const able = (await people.memberships({ organizationId }))
    .filter(({ role }) => allowance(role, may) !== null)
    .toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || a.joinedAtMs - b.joinedAtMs);
  const named = able.slice(0, NAMED);
  const names = new Map(
    (await people.persons(named.map(({ personId }) => personId))).map(({ id, name }) => [id, name]),
  );
  const listed = named.map(({ personId, role }) => `${names.get(personId) ?? personId} (${role})`).join(", ");
  const others = able.length - named.length;
  if (listed === "") return "";
  return ` Members who may: ${listed}${others === 0 ? "" : ` and ${others} more`}.`;
}
