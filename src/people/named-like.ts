// Finds people by what is typed of them: a part of a name or of an address in any case, or a whole id.
import { partOf } from "../store/sql.ts";

/**
 * SQL condition on the table `user`, aliased `u`; its two values are `?first` and the next one, as returned
 * by `likeOf`.
 */
export const namedLike = (first: number): string =>
  `(lower(u.name) LIKE ?${first} ESCAPE '!' OR lower(u.email) LIKE ?${first} ESCAPE '!' OR u.id = ?${first + 1})`;

/** An empty text matches everybody. */
export const likeOf = (search: string): [string, string] => [partOf(search), search];
