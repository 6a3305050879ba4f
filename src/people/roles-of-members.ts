// Gives and takes away roles and removes members, by those who may at that moment. An organization with
// members keeps at least one owner.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { notFound } from "../domain/unknown-record.ts";
import { mayGive, type Role } from "../domain/roles.ts";
import { changedConcurrently, changedMeanwhile } from "../domain/row-version.ts";
import { giversOf, LOST, operates, UNASKED } from "./authority.ts";
import { findMember, type MembershipPorts, placeOfMember } from "./member-row.ts";
import type { MemberAt, People } from "./people.ts";

/** Each change is one statement that locks what it depends on; it throws if that has changed since. */
export function rolesOfMembers(
  { records, store }: MembershipPorts,
  endSessions: (personId: string) => Promise<unknown>,
): Pick<People, "changeRole" | "remove"> {
  const stepDown = async (
    { organizationId, personId }: MemberAt,
    { work, also, from, by, to }: { work: string; also: string; from: Role; by: string; to?: Role },
  ): Promise<void> => {
    const place = placeOfMember(organizationId, personId);
    const values = [organizationId, personId, by, place, from, ...(to === undefined ? [] : [to])];
    const changed = await store.change(unlessLast(work, also, store.locking), ...values);
    await store.change(LOST, personId);
    if (changed > 0) return;
    const row = await findMember(records, organizationId, personId);
    const field = by === personId && to === undefined ? null : "member"; // leaving names nobody
    if (row === null) throw notFound(field);
    if (row.role !== from) throw to === undefined ? changedConcurrently() : changedMeanwhile();
    const acting = await findMember(records, organizationId, by);
    const roles = to === undefined ? [from] : [from, to];
    const may =
      (acting !== null &&
        ((by === personId && to === undefined) || mayGiveAll(acting.role as Role, roles))) ||
      (await store.rows(`SELECT 1 WHERE ${operates("?1")}`, by)).length > 0;
    if (!may)
      throw new OperatorRefusal(
        "role_not_permitted",
        "Your own role has just been changed. Reload the page.",
      );
    throw new OperatorRefusal(
      "conflict",
      "This is the organization's last owner. Make someone else an owner first.",
      field,
    );
  };
  return {
    async changeRole(at, { from, to, by }) {
      await stepDown(at, { work: "UPDATE membership SET role = ?6", also: mayAct(from, to), from, to, by });
      await endSessions(at.personId);
    },
    async remove(at, { from, by }) {
      const also = at.personId === by ? isThere : mayAct(from);
      await stepDown(at, { work: "DELETE FROM membership", also, from, by });
      await store.change(UNASKED, at.organizationId, at.personId);
    },
  };
}

/**
 * Locks the owners, the acting person and the person acted on, in one order. If two owners step down together
 * or remove each other, on any gateways, the second sees what the first one left.
 */
const unlessLast = (work: string, also: string, locking: string): string =>
  `WITH kept AS (
   SELECT "personId", role FROM membership
   WHERE "organizationId" = ?1 AND (role = 'owner' OR "personId" IN (?2, ?3)) ORDER BY id ${locking}
 ) ${work} WHERE place = ?4 AND role = ?5 AND ${also}
   AND (role <> 'owner' OR (SELECT count(*) FROM kept WHERE role = 'owner') > 1)`;

const mayAct = (...roles: Role[]): string =>
  `((SELECT count(*) FROM kept WHERE "personId" = ?3 AND role IN (${giversOf(...roles)})) = 1 OR ${operates("?3")})`;
const isThere = `(SELECT count(*) FROM kept WHERE "personId" = ?3) = 1`;

const mayGiveAll = (standing: Role, roles: readonly Role[]): boolean =>
  roles.every((role) => mayGive(standing, role));
