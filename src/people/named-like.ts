// Finding people by what is typed of them: a part of a name or of an address, however it is written, or a whole id.
import { partOf } from "../store/sql.ts";

/** Of the table `user`, called `u`; its two values are `?first` and the next one, as `likeOf` gives them. */
export const namedLike = (first: number): string =>
  `(lower(u.name) LIKE ?${first} ESCAPE '!' OR lower(u.email) LIKE ?${first} ESCAPE '!' OR u.id = ?${first + 1})`;

/** A blank text finds everybody. */
export const likeOf = (search: string): [string, string] => [partOf(search), search];
