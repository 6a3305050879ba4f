// Who belongs to which organization, with which role: read, counted, joined.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { Role } from "../domain/roles.ts";
import { inHundreds, numberOf, textOf } from "../store/sql.ts";
import { allRows } from "./all-rows.ts";
import { knownMs, knownTime } from "./known-time.ts";
import {
  findMember,
  memberAt,
  MEMBERSHIP,
  membershipOf,
  type MembershipPorts,
  placeOfMember,
} from "./member-row.ts";
import { namedLike } from "./named-like.ts";
import type { Membership, People } from "./people.ts";
import { rolesOfMembers } from "./roles-of-members.ts";
import type { MembershipRow } from "./schema.ts";

type Memberships = ReturnType<typeof members> &
  ReturnType<typeof counted> &
  ReturnType<typeof rolesOfMembers>;

/** `seenAt` is written at most this often. */
const SEEN_EVERY_MS = 60_000;

/** The limit per organization. */
export const MEMBERS_MAX = 1_000;

/** `endSessions`: a member whose role changed has to sign in again. */
export const memberships = (
  on: MembershipPorts,
  endSessions: (personId: string) => Promise<unknown>,
): Memberships => ({ ...members(on), ...counted(on), ...rolesOfMembers(on, endSessions) });

function members({
  records,
  store,
}: MembershipPorts): Pick<People, "memberships" | "membersAfter" | "membership" | "join" | "seen"> {
  return {
    async memberships(by) {
      const rows = await allRows<MembershipRow>(records, { model: MEMBERSHIP, where: [whoseOf(by)] });
      return rows.map(membershipOf).toSorted((a, b) => b.seenAtMs - a.seenAtMs);
    },
    async membersAfter(organizationId, { after, search, most }) {
      const named = namedLike(4, search);
      const rows = await store.rows(
        `SELECT m.* FROM membership m JOIN "user" u ON u.id = m."personId"
         WHERE m."organizationId" = ?1 AND (${JOINED} < ?2 OR (${JOINED} = ?2 AND m."personId" < ?3))
           AND ${named.condition}
         ORDER BY ${JOINED} DESC, m."personId" DESC LIMIT ${most}`,
        organizationId,
        after.atMs,
        after.id,
        ...named.values,
      );
      return rows.map((row) => membershipOf(row as unknown as MembershipRow));
    },
    async membership(organizationId, personId) {
      const row = await findMember(records, organizationId, personId);
      return row === null ? null : membershipOf(row);
    },
    async join(organizationId, personId, role) {
      const where = [{ field: "organizationId", value: organizationId }];
      if ((await records.count({ model: MEMBERSHIP, where })) >= MEMBERS_MAX) throw tooManyMembers();
      const now = Date.now();
      const place = placeOfMember(organizationId, personId);
      const data = { place, organizationId, personId, role, joinedAt: now, seenAt: now };
      try {
        await records.create({ model: MEMBERSHIP, data });
      } catch (error) {
        // Joined at the same moment through another link; any other error is rethrown.
        const found = await findMember(records, organizationId, personId);
        throw found === null ? error : alreadyMember(found.role as Role, "token");
      }
    },
    async seen(organizationId, personId) {
      const row = await findMember(records, organizationId, personId);
      const now = Date.now();
      if (row === null) return;
      const ago = now - Number(row.seenAt);
      if (ago >= 0 && ago < SEEN_EVERY_MS) return; // a damaged or future time is overwritten
      await records.update({
        model: MEMBERSHIP,
        where: memberAt(organizationId, personId),
        update: { seenAt: now },
      });
    },
  };
}

function counted({ store }: MembershipPorts): Pick<People, "ownerCount" | "memberCounts" | "membersAmong"> {
  return {
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
          ...some.map((personId) => placeOfMember(organizationId, personId)),
        );
        for (const { person } of rows) found.add(textOf(person));
      }
      return found;
    },
  };
}

const JOINED = knownTime('m."joinedAt"');
/** The position of a member in the list, latest joined first. */
export const joinedPlace = ({ joinedAtMs, personId: id }: Membership): { atMs: number; id: string } => ({
  atMs: knownMs(joinedAtMs),
  id,
});

const whoseOf = (by: Parameters<People["memberships"]>[0]) => {
  if ("personIds" in by) return { field: "personId", operator: "in" as const, value: by.personIds };
  return "personId" in by
    ? { field: "personId", value: by.personId }
    : { field: "organizationId", value: by.organizationId };
};

/** `field`: the input field that names the person, the address of an invitation or its token. */
export const alreadyMember = (role: Role, field: "email" | "token"): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `This person is already a member, as ${role}. An owner or an admin can change the role on the Team page.`,
    field,
  );

export const tooManyMembers = (): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The organization has ${MEMBERS_MAX} members, which is the maximum. Someone on its team has to remove one first.`,
  );
