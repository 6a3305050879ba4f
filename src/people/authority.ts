// Who may give which role now, as SQL conditions of the statements that depend on it: a role is offered,
// given or taken away only by somebody who may do so at that moment
// (docs/decisions/0018-authority-is-of-persons.md).
import { INSTALLATION } from "../domain/actor.ts";
import { mayGive, type Role, ROLES } from "../domain/roles.ts";

/** Takes the place of the organization id in invitations of operators. */
export const OPERATORS = "operators";

const PAIRS = ROLES.flatMap((giver) =>
  ROLES.filter((role) => mayGive(giver, role)).map((role) => `('${giver}', '${role}')`),
).join(", ");

/** The roles that may give all of `roles`, as an SQL list. */
export const giversOf = (...roles: Role[]): string =>
  ROLES.filter((giver) => roles.every((role) => mayGive(giver, role)))
    .map((giver) => `'${giver}'`)
    .join(", ");

/** SQL condition: the expression `giver` names an operator, or the installation, which counts as a person. */
export const operates = (giver: string): string =>
  `(${giver} = '${INSTALLATION}'
    OR EXISTS (SELECT 1 FROM "user" AS person WHERE person.id = ${giver} AND person.operator = TRUE))`;

/**
 * SQL condition: the person named by the expression `giver` may make this row's invitation now. An operator
 * may make any; a member, those of their organization with a role that they may give.
 */
export const mayInvite = (giver: string): string =>
  `(${operates(giver)}
    OR EXISTS (SELECT 1 FROM membership AS holder JOIN "user" AS person ON person.id = holder."personId"
      WHERE holder."organizationId" = invitation."organizationId" AND person.id = ${giver} AND (holder.role, invitation.role) IN (VALUES ${PAIRS})))`;

/** Withdraws a person's open invitations that they may no longer make. */
export const LOST = `UPDATE invitation SET state = 'withdrawn'
  WHERE "invitedBy" = ?1 AND state = 'open' AND NOT ${mayInvite("?1")}`;

/**
 * Withdraws the open invitations of a person to an organization: a removed member comes back only by a new
 * invitation.
 */
export const UNASKED = `UPDATE invitation SET state = 'withdrawn'
  WHERE "organizationId" = ?1 AND state = 'open' AND email = (SELECT email FROM "user" WHERE id = ?2)`;
