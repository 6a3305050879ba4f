// A membership as stored: one row for each member of each organization, found by the key that the two form.
import type { Membership } from "./people.ts";
import type { Role } from "../domain/roles.ts";
import type { MembershipRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";
import type { PeopleStore } from "./store.ts";

type Records = SignIn["records"];

export interface MembershipPorts {
  records: Records;
  store: Pick<PeopleStore, "change" | "locking" | "rows">;
}

/** The model's name in the library's records. */
export const MEMBERSHIP = "membership";

/** Unique: a person is a member of an organization once. */
export const placeOfMember = (organizationId: string, personId: string): string =>
  `${organizationId} ${personId}`;

/** The condition that finds the row in the library's records. */
export const memberAt = (organizationId: string, personId: string) => [
  { field: "place", value: placeOfMember(organizationId, personId) },
];

export const findMember = (
  records: Records,
  organizationId: string,
  personId: string,
): Promise<MembershipRow | null> =>
  records.findOne<MembershipRow>({ model: MEMBERSHIP, where: memberAt(organizationId, personId) });

export const membershipOf = (row: MembershipRow): Membership => ({
  organizationId: row.organizationId,
  personId: row.personId,
  role: row.role as Role,
  joinedAtMs: Number(row.joinedAt),
  seenAtMs: Number(row.seenAt),
});
