// Who belongs to which organization, with which role. An organization that has members keeps at least one owner.
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Membership, People } from "../contract/people.ts";
import type { Role } from "../contract/roles.ts";
import type { MembershipRow, RuleRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";
import type { PeopleStore } from "./store.ts";

type Records = SignIn["records"];
type Memberships = Pick<People, "memberships" | "membership" | "join" | "changeRole" | "remove" | "seen">;

const MODEL = "membership";
/** `seenAt` is written at most this often. */
const SEEN_EVERY_MS = 60_000;

const placeOf = (organizationId: string, personId: string): string => `${organizationId} ${personId}`;
const at = (organizationId: string, personId: string) => [
  { field: "place", value: placeOf(organizationId, personId) },
];

export function memberships(
  { records, store }: { records: Records; store: Pick<PeopleStore, "change" | "locking"> },
  endSessions: (personId: string) => Promise<unknown>,
): Memberships {
  const find = (organizationId: string, personId: string): Promise<MembershipRow | null> =>
    records.findOne<MembershipRow>({ model: MODEL, where: at(organizationId, personId) });
  // The owners are counted in the statement that takes one away, and kept as they are until it is done: of two owners who
  // step down together, at whichever gateways, the second one finds itself alone.
  const unlessLast = (work: string): string =>
    `WITH owners AS (
       SELECT id FROM membership WHERE "organizationId" = ?1 AND role = 'owner' ORDER BY id ${store.locking}
     ) ${work} WHERE place = ?2 AND (role <> 'owner' OR (SELECT count(*) FROM owners) > 1)`;
  const stepDown = async (
    { organizationId, personId }: { organizationId: string; personId: string },
    work: string,
    ...values: string[]
  ): Promise<void> => {
    const place = placeOf(organizationId, personId);
    if ((await store.change(unlessLast(work), organizationId, place, ...values)) > 0) return;
    if ((await find(organizationId, personId)) === null) throw unknownMember();
    throw new OperatorRefusal(
      "conflict",
      "This is the organization's last owner. Make somebody else an owner first.",
      "member",
    );
  };
  return {
    async memberships(by) {
      const where =
        by === "all"
          ? []
          : "personId" in by
            ? [{ field: "personId", value: by.personId }]
            : [{ field: "organizationId", value: by.organizationId }];
      const sortBy = { field: "seenAt", direction: "desc" as const };
      const rows = await records.findMany<MembershipRow>({ model: MODEL, where, sortBy, limit: 10_000 });
      return rows.map(membershipOf);
    },
    async membership(organizationId, personId) {
      const row = await find(organizationId, personId);
      return row === null ? null : membershipOf(row);
    },
    async join(organizationId, personId, role) {
      if ((await find(organizationId, personId)) !== null) return;
      const now = Date.now();
      const place = placeOf(organizationId, personId);
      const data = { place, organizationId, personId, role, joinedAt: now, seenAt: now };
      try {
        await records.create({ model: MODEL, data });
      } catch (error) {
        // Joined at the same moment by another link; any other failure is its own.
        if ((await find(organizationId, personId)) === null) throw error;
      }
    },
    async changeRole(organizationId, personId, role) {
      const row = await find(organizationId, personId);
      if (row === null) throw unknownMember();
      if (role === "owner")
        await records.update({ model: MODEL, where: at(organizationId, personId), update: { role } });
      else await stepDown({ organizationId, personId }, "UPDATE membership SET role = ?3", role);
      await endSessions(personId);
      return membershipOf({ ...row, role });
    },
    remove: (organizationId, personId) => stepDown({ organizationId, personId }, "DELETE FROM membership"),
    async seen(organizationId, personId) {
      const row = await find(organizationId, personId);
      const now = Date.now();
      if (row === null || Number(row.seenAt) > now - SEEN_EVERY_MS) return;
      await records.update({ model: MODEL, where: at(organizationId, personId), update: { seenAt: now } });
    },
  };
}

export const rules = (records: Records): Pick<People, "rules" | "setRules"> => ({
  async rules(organizationId) {
    const where = [{ field: "organizationId", value: organizationId }];
    const row = await records.findOne<RuleRow>({ model: "organizationRule", where });
    return { requireTwoFactor: row?.requireTwoFactor === true };
  },
  async setRules(organizationId, { requireTwoFactor }) {
    const where = [{ field: "organizationId", value: organizationId }];
    const changed = await records.update({ model: "organizationRule", where, update: { requireTwoFactor } });
    if (changed === null)
      await records.create({ model: "organizationRule", data: { organizationId, requireTwoFactor } });
  },
});

const unknownMember = (): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record of this id.", "member");

const membershipOf = (row: MembershipRow): Membership => ({
  organizationId: row.organizationId,
  personId: row.personId,
  role: row.role as Role,
  joinedAtMs: Number(row.joinedAt),
  seenAtMs: Number(row.seenAt),
});
