// The person behind an actor. A session acts for its person; a management key for the person who created it
// or whose command line signed in with it. Whatever the machine created belongs to the installation, which
// counts as a person (docs/decisions/0018-authority-is-of-persons.md).

import { INSTALLATION } from "../domain/actor.ts";

/**
 * SQL expression for a row of `management_key`: who signed in with it or created it; null if no audit line
 * tells.
 */
export const MAKER = `COALESCE(management_key.login_of, (SELECT made.actor FROM audit_log AS made
  WHERE made.action = 'management_key.create' AND made.target = management_key.id LIMIT 1))`;

/**
 * SQL expression for the maker of the management key that the expression `actor` names; null for all other
 * actors.
 */
export const makerOf = (actor: string): string =>
  `(SELECT ${MAKER} FROM management_key WHERE management_key.id = ${actor})`;

const isPerson = (id: string): boolean => id.startsWith("usr_");

/** The owner of a management key, given its maker. Only persons own keys; keys create no keys. */
export const ownerBy = (maker: string | null): string =>
  maker !== null && isPerson(maker) ? maker : INSTALLATION;

/** The acting person, given the maker of the acting management key. */
export const personBehind = (actorId: string, maker: string | null): string =>
  isPerson(actorId) ? actorId : ownerBy(maker);
