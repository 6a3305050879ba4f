// The person behind an actor. A session acts for its person, a management key for whoever made it or signed the command
// line in with it; what the machine made is the installation's, which is one person more
// (docs/decisions/0018-authority-is-of-persons.md).

import { INSTALLATION } from "../domain/actor.ts";

/** In SQL, of a row of `management_key`: who signed in with it or made it; null when no line tells. */
export const MAKER = `COALESCE(management_key.login_of, (SELECT made.actor FROM audit_log AS made
  WHERE made.action = 'management_key.create' AND made.target = management_key.id LIMIT 1))`;

/** In SQL: the maker of the management key that the expression `actor` names; null for all others. */
export const makerOf = (actor: string): string =>
  `(SELECT ${MAKER} FROM management_key WHERE management_key.id = ${actor})`;

const isPerson = (id: string): boolean => id.startsWith("usr_");

/** Whose a management key is, by its maker. Only persons own keys; keys make no keys. */
export const ownerBy = (maker: string | null): string =>
  maker !== null && isPerson(maker) ? maker : INSTALLATION;

/** Who acts, by the maker of the management key that acts. */
export const personBehind = (actorId: string, maker: string | null): string =>
  isPerson(actorId) ? actorId : ownerBy(maker);
