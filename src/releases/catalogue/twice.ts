// Names that stand twice in one object of a table. `JSON.parse` keeps the last of them without a word; which of two prices is
// meant nobody can know, so that whatever holds one is left out by its name.

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|[^\s"{}[\],]+/gs;

/** Stands in the place of a member whose name was written more than once. */
class Twice {}
const TWICE = new Twice();

/** Whether this stands for a member whose name the table has twice. */
export const isTwice = (value: unknown): boolean => value instanceof Twice;

/** Where the object or array of one level is: the name of its member, or the number of its item. */
interface Level {
  /** Of an object; null for an array. */
  names: Set<string> | null;
  at: string | number;
  /** A name comes next, not a value. */
  name: boolean;
}

/** The parsed value of `text` with each repeated member told as such. Changes `value`. */
export function withRepeats(text: string, value: unknown): unknown {
  for (const path of repeats(text)) mark(value, path);
  return value;
}

/** The ways to all repeated members of a text that is JSON. */
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
  // Not by assignment, which gives an object another prototype where the name is `__proto__`.
  Object.defineProperty(value, first, { value: TWICE, enumerable: true, configurable: true, writable: true });
}

/** The first name that stands twice in the value, at any depth; null where none does. */
export function repeatedName(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [name, one] of Object.entries(value)) {
    if (isTwice(one)) return name;
    const inside = repeatedName(one);
    if (inside !== null) return inside;
  }
  return null;
}
