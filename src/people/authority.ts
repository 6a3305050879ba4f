// Who may give which role at this moment, as conditions of the statements that decide by it: nobody is offered, made or
// taken away as something by whoever could not do it now (docs/decisions/0018-authority-is-of-persons.md).
import { INSTALLATION } from "../domain/actor.ts";
import { mayGive, type Role, ROLES } from "../domain/roles.ts";

/** Stands for the organization where operators are invited to be operators. */
export const OPERATORS = "operators";

const PAIRS = ROLES.flatMap((giver) =>
  ROLES.filter((role) => mayGive(giver, role)).map((role) => `('${giver}', '${role}')`),
).join(", ");

/** Of whom `role` may be had, as a list in SQL. */
export const giversOf = (...roles: Role[]): string =>
  ROLES.filter((giver) => roles.every((role) => mayGive(giver, role)))
    .map((giver) => `'${giver}'`)
    .join(", ");

/** True where the expression `giver` names an operator, or the installation, which is one person more. */
export const operates = (giver: string): string =>
  `(${giver} = '${INSTALLATION}'
    OR EXISTS (SELECT 1 FROM "user" AS person WHERE person.id = ${giver} AND person.operator = TRUE))`;

/**
 * True where the person of the expression `giver` may make the invitation of this row now: an operator any, a member
 * those of their organization whose role they may give.
 */
export const mayInvite = (giver: string): string =>
  `(${operates(giver)}
    OR EXISTS (SELECT 1 FROM membership AS holder JOIN "user" AS person ON person.id = holder."personId"
      WHERE holder."organizationId" = invitation."organizationId" AND person.id = ${giver} AND (holder.role, invitation.role) IN (VALUES ${PAIRS})))`;

/** Ends the open invitations of a person that they may not make any more. */
export const LOST = `UPDATE invitation SET state = 'withdrawn'
  WHERE "invitedBy" = ?1 AND state = 'open' AND NOT ${mayInvite("?1")}`;

/** Ends what is open for a person in an organization: whoever was removed comes back by a new invitation only. */
export const UNASKED = `UPDATE invitation SET state = 'withdrawn'
  WHERE "organizationId" = ?1 AND state = 'open' AND email = (SELECT email FROM "user" WHERE id = ?2)`;
