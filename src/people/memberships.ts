// Who belongs to which organization, with which role. An organization that has members keeps at least one owner.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { changedMeanwhile } from "../domain/row-version.ts";
import type { MemberAt, Membership, People } from "./people.ts";
import { mayGive, type Role } from "../domain/roles.ts";
import { inHundreds, numberOf, textOf } from "../store/sql.ts";
import { allRows } from "./all-rows.ts";
import { likeOf, namedLike } from "./named-like.ts";
import { giversOf, LOST, UNASKED } from "./authority.ts";
import type { MembershipRow, RuleRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";
import type { PeopleStore } from "./store.ts";

type Records = SignIn["records"];
type Memberships = Pick<
  People,
  | "memberships"
  | "memberCounts"
  | "membersAfter"
  | "membersAmong"
  | "ownerCount"
  | "membership"
  | "join"
  | "changeRole"
  | "remove"
  | "seen"
>;

const MODEL = "membership";
/** `seenAt` is written at most this often. */
const SEEN_EVERY_MS = 60_000;

/** Of one organization. */
export const MEMBERS_MAX = 1_000;

const placeOf = (organizationId: string, personId: string): string => `${organizationId} ${personId}`;
const at = (organizationId: string, personId: string) => [
  { field: "place", value: placeOf(organizationId, personId) },
];

export function memberships(
  { records, store }: { records: Records; store: Pick<PeopleStore, "change" | "locking" | "rows"> },
  endSessions: (personId: string) => Promise<unknown>,
): Memberships {
  const find = (organizationId: string, personId: string): Promise<MembershipRow | null> =>
    records.findOne<MembershipRow>({ model: MODEL, where: at(organizationId, personId) });
  // The owners, who acts and who is acted on are kept as they are until it is done, in one order: of two owners who step
  // down together, or remove each other, at whichever gateways, the second one finds what the first one left.
  const unlessLast = (work: string, also: string): string =>
    `WITH kept AS (
       SELECT "personId", role FROM membership
       WHERE "organizationId" = ?1 AND (role = 'owner' OR "personId" IN (?2, ?3)) ORDER BY id ${store.locking}
     ) ${work} WHERE place = ?4 AND role = ?5 AND ${also}
       AND (role <> 'owner' OR (SELECT count(*) FROM kept WHERE role = 'owner') > 1)`;
  const mayAct = (...roles: Role[]): string =>
    `(SELECT count(*) FROM kept WHERE "personId" = ?3 AND role IN (${giversOf(...roles)})) = 1`;
  const isThere = `(SELECT count(*) FROM kept WHERE "personId" = ?3) = 1`;
  const stepDown = async (
    { organizationId, personId }: MemberAt,
    { work, also, from, by, to }: { work: string; also: string; from: Role; by: string; to?: Role },
  ): Promise<void> => {
    const place = placeOf(organizationId, personId);
    const values = [organizationId, personId, by, place, from, ...(to === undefined ? [] : [to])];
    const changed = await store.change(unlessLast(work, also), ...values);
    await store.change(LOST, personId);
    if (changed > 0) return;
    const row = await find(organizationId, personId);
    if (row === null) throw unknownMember();
    if (row.role !== from) throw changedMeanwhile();
    const acting = await find(organizationId, by);
    const roles = to === undefined ? [from] : [from, to];
    if (acting === null || !((by === personId && to === undefined) || mayGiveAll(acting.role as Role, roles)))
      throw new OperatorRefusal(
        "role_not_permitted",
        "Your own role was changed a moment ago. Open the page again.",
      );
    throw new OperatorRefusal(
      "conflict",
      "This is the organization's last owner. Make somebody else an owner first.",
      "member",
    );
  };
  return {
    async memberships(by) {
      const rows = await allRows<MembershipRow>(records, { model: MODEL, where: [whoseOf(by)] });
      return rows.map(membershipOf).toSorted((a, b) => b.seenAtMs - a.seenAtMs);
    },
    async membersAfter(organizationId, { after, search, most }) {
      const rows = await store.rows(
        `SELECT m.* FROM membership m JOIN "user" u ON u.id = m."personId"
         WHERE m."organizationId" = ?1 AND (${JOINED} < ?2 OR (${JOINED} = ?2 AND m."personId" < ?3))
           AND ${namedLike("u", 4)}
         ORDER BY ${JOINED} DESC, m."personId" DESC LIMIT ${most}`,
        organizationId,
        after.atMs,
        after.id,
        ...likeOf(search),
      );
      return rows.map((row) => membershipOf(row as unknown as MembershipRow));
    },
    async ownerCount(organizationId) {
      const [row] = await store.rows(
        `SELECT count(*) AS owners FROM membership WHERE "organizationId" = ?1 AND role = 'owner'`,
        organizationId,
      );
      return numberOf(row?.["owners"]);
    },
    async memberCounts(organizationIds) {
      const counts = new Map<string, number>();
      for (const some of inHundreds(organizationIds)) {
        const rows = await store.rows(
          `SELECT "organizationId" AS org, count(*) AS members FROM membership
           WHERE "organizationId" IN (${some.map((_, n) => `?${n + 1}`).join(", ")}) GROUP BY "organizationId"`,
          ...some,
        );
        for (const { org, members } of rows) counts.set(textOf(org), numberOf(members));
      }
      return counts;
    },
    async membersAmong(organizationId, personIds) {
      const found = new Set<string>();
      for (const some of inHundreds(personIds)) {
        const rows = await store.rows(
          `SELECT "personId" AS person FROM membership WHERE place IN (${some.map((_, n) => `?${n + 1}`).join(", ")})`,
          ...some.map((personId) => placeOf(organizationId, personId)),
        );
        for (const { person } of rows) found.add(textOf(person));
      }
      return found;
    },
    async membership(organizationId, personId) {
      const row = await find(organizationId, personId);
      return row === null ? null : membershipOf(row);
    },
    async join(organizationId, personId, role) {
      const where = [{ field: "organizationId", value: organizationId }];
      if ((await records.count({ model: MODEL, where })) >= MEMBERS_MAX) throw tooManyMembers();
      const now = Date.now();
      const place = placeOf(organizationId, personId);
      const data = { place, organizationId, personId, role, joinedAt: now, seenAt: now };
      try {
        await records.create({ model: MODEL, data });
      } catch (error) {
        // Joined at the same moment by another link; any other failure is its own.
        const found = await find(organizationId, personId);
        throw found === null ? error : alreadyMember(found.role as Role);
      }
    },
    async changeRole(at, { from, to, by }) {
      await stepDown(at, { work: "UPDATE membership SET role = ?6", also: mayAct(from, to), from, to, by });
      await endSessions(at.personId);
    },
    async remove(at, { from, by }) {
      const also = at.personId === by ? isThere : mayAct(from);
      await stepDown(at, { work: "DELETE FROM membership", also, from, by });
      await store.change(UNASKED, at.organizationId, at.personId);
    },
    async seen(organizationId, personId) {
      const row = await find(organizationId, personId);
      const now = Date.now();
      if (row === null) return;
      const ago = now - Number(row.seenAt);
      if (ago >= 0 && ago < SEEN_EVERY_MS) return; // what is damaged or lies ahead is written anew
      await records.update({ model: MODEL, where: at(organizationId, personId), update: { seenAt: now } });
    },
  };
}

/** A damaged time is the oldest one: it hides nobody, and each page still has a next one. */
const JOINED = `(CASE WHEN m."joinedAt" BETWEEN 0 AND 9007199254740990 THEN m."joinedAt" ELSE 0 END)`;
/** Where a member stands in the list of who joined last. */
export const joinedPlace = ({ joinedAtMs, personId: id }: Membership): { atMs: number; id: string } => ({
  atMs: joinedAtMs >= 0 && joinedAtMs <= 9_007_199_254_740_990 ? joinedAtMs : 0,
  id,
});

const whoseOf = (by: Parameters<People["memberships"]>[0]) => {
  if ("personIds" in by) return { field: "personId", operator: "in" as const, value: by.personIds };
  return "personId" in by
    ? { field: "personId", value: by.personId }
    : { field: "organizationId", value: by.organizationId };
};

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

export const alreadyMember = (role: Role): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `This person is a member already, as ${role}. An owner or an admin changes the role on the Team page.`,
    "email",
  );

export const tooManyMembers = (): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The organization has ${MEMBERS_MAX} members, which is the most. Somebody on its team has to remove one first.`,
  );

const mayGiveAll = (standing: Role, roles: readonly Role[]): boolean =>
  roles.every((role) => mayGive(standing, role));

const unknownMember = (): OperatorRefusal =>
  new OperatorRefusal("not_found", "There is no record of this id.", "member");

const membershipOf = (row: MembershipRow): Membership => ({
  organizationId: row.organizationId,
  personId: row.personId,
  role: row.role as Role,
  joinedAtMs: Number(row.joinedAt),
  seenAtMs: Number(row.seenAt),
});
