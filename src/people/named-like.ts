// Finding people by what is typed of them: a part of a name or of an address, however it is written, or a whole id.
import { partOf } from "../store/sql.ts";

/** Of the table `user` under this name; its two values are `?first` and the next one, as `likeOf` gives them. */
export const namedLike = (user: string, first: number): string =>
  `(lower(${user}.name) LIKE ?${first} ESCAPE '!' OR lower(${user}.email) LIKE ?${first} ESCAPE '!' OR ${user}.id = ?${first + 1})`;

/** A blank text finds everybody. */
export const likeOf = (search: string): [string, string] => [partOf(search), search];
