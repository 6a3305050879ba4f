// Who belongs to which organization, with which role. An organization that has members keeps at least one owner.
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import { changedMeanwhile } from "../contract/version.ts";
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
  const unlessLast = (work: string, also: string): string =>
    `WITH owners AS (
       SELECT id FROM membership WHERE "organizationId" = ?1 AND role = 'owner' ORDER BY id ${store.locking}
     ) ${work} WHERE place = ?2 AND (role <> 'owner' OR (SELECT count(*) FROM owners) > 1) ${also}`;
  const stepDown = async (
    { organizationId, personId }: { organizationId: string; personId: string },
    { work, change }: { work: string; change?: { from: Role; to: Role } },
  ): Promise<void> => {
    const place = placeOf(organizationId, personId);
    const statement = unlessLast(work, change === undefined ? "" : "AND role = ?4");
    const values = change === undefined ? [] : [change.to, change.from];
    if ((await store.change(statement, organizationId, place, ...values)) > 0) return;
    const row = await find(organizationId, personId);
    if (row === null) throw unknownMember();
    if (change !== undefined && row.role !== change.from) throw changedMeanwhile();
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
    async changeRole(organizationId, personId, change) {
      await stepDown({ organizationId, personId }, { work: "UPDATE membership SET role = ?3", change });
      await endSessions(personId);
    },
    remove: (organizationId, personId) =>
      stepDown({ organizationId, personId }, { work: "DELETE FROM membership" }),
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
    const row = await ruleOf(records, organizationId);
    return { requireTwoFactor: row?.requireTwoFactor === true };
  },
  async setRules(organizationId, { from, to }) {
    const where = [
      { field: "organizationId", value: organizationId },
      { field: "requireTwoFactor", value: from.requireTwoFactor },
    ];
    if ((await records.updateMany({ model: RULE, where, update: { ...to } })) > 0) return;
    // An organization that has set nothing has no row, and asks for nothing.
    if (from.requireTwoFactor) throw changedMeanwhile();
    try {
      await records.create({ model: RULE, data: { organizationId, ...to } });
    } catch (error) {
      // Set at the same moment by somebody else; any other failure is its own.
      if ((await ruleOf(records, organizationId)) === null) throw error;
      throw changedMeanwhile();
    }
  },
});

const RULE = "organizationRule";

const ruleOf = (records: Records, organizationId: string): Promise<RuleRow | null> =>
  records.findOne<RuleRow>({ model: RULE, where: [{ field: "organizationId", value: organizationId }] });

const unknownMember = (): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record of this id.", "member");

const membershipOf = (row: MembershipRow): Membership => ({
  organizationId: row.organizationId,
  personId: row.personId,
  role: row.role as Role,
  joinedAtMs: Number(row.joinedAt),
  seenAtMs: Number(row.seenAt),
});
