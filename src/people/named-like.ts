// Finds people by what is typed of them: a part of a name or of an address in any case, or a whole id.
import { hasPart, likePatterns } from "../store/sql.ts";

/**
 * SQL condition on the table `user`, aliased `u`, and its values, which start at `?first`. An empty text matches
 * everybody.
 */
export function namedLike(first: number, search: string): { condition: string; values: string[] } {
  const parts = likePatterns(search);
  const places = parts.map((_, n) => `?${first + n}`);
  const condition = `(${hasPart(["u.name", "u.email"], places)} OR u.id = ?${first + parts.length})`;
  return { condition, values: [...parts, search] };
}
