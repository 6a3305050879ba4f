// Finds names that occur twice in one object of a table. `JSON.parse` silently keeps the last; nobody can
// know which price is meant, so whatever contains a repeated name is skipped by name.

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|[^\s"{}[\],]+/gs;

/** Replaces a member whose name occurs more than once. */
class Twice {}
const TWICE = new Twice();

/** True for the replacement of a member whose name occurs twice. */
export const isTwice = (value: unknown): boolean => value instanceof Twice;

/** The position of an object or array in its parent: a member's name, or an item's index. */
interface Level {
  /** Null for an array. */
  names: Set<string> | null;
  at: string | number;
  /** The next string is a name, not a value. */
  name: boolean;
}

/** Returns the parsed value of `text` with each repeated member replaced. Modifies `value`. */
export function withRepeats(text: string, value: unknown): unknown {
  for (const path of repeats(text)) mark(value, path);
  return value;
}

/** The paths of all repeated members of a JSON text. */
function repeats(text: string): (string | number)[][] {
  const found: (string | number)[][] = [];
  const levels: Level[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === "{") levels.push({ names: new Set(), at: "", name: true });
    else if (token === "[") levels.push({ names: null, at: 0, name: false });
    else if (token === "}" || token === "]") levels.pop();
    else if (token === "," && level !== undefined) next(level);
    else if (level?.name === true && level.names !== null) {
      level.at = JSON.parse(token) as string;
      level.name = false;
      if (level.names.has(level.at)) found.push(levels.map(({ at }) => at));
      level.names.add(level.at);
    }
  }
  return found;
}

function next(level: Level): void {
  if (typeof level.at === "number") level.at += 1;
  else level.name = true;
}

function mark(value: unknown, path: readonly (string | number)[]): void {
  const [first, ...rest] = path;
  if (typeof value !== "object" || value === null || first === undefined || !Object.hasOwn(value, first))
    return;
  if (rest.length > 0) return mark((value as Record<string, unknown>)[first], rest);
  // Not by assignment: assigning to `__proto__` would change the object's prototype.
  Object.defineProperty(value, first, { value: TWICE, enumerable: true, configurable: true, writable: true });
}

/** The first repeated name in the value, at any depth; null if there is none. */
export function repeatedName(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [name, one] of Object.entries(value)) {
    if (isTwice(one)) return name;
    const inside = repeatedName(one);
    if (inside !== null) return inside;
  }
  return null;
}
