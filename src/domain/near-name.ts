// What somebody may have meant who wrote a name that there is none of.

/** A slip is of this many letters at most, and of less than half the name. */
const SLIPS_MAX = 3;
/** Longer words are compared by nobody: the time would grow with their square. */
const LENGTH_MAX = 100;

/** The name with the fewest slips from `word`, upper and lower case alike; the first of several, null where none is near. */
export function nearName(word: string, names: Iterable<string>): string | null {
  if (word.length > LENGTH_MAX) return null;
  let best: { name: string; slips: number } | null = null;
  for (const name of names) {
    const slips = slipsBetween(word.toLowerCase(), name.toLowerCase());
    if (slips > SLIPS_MAX || slips * 2 >= Math.max(word.length, name.length)) continue;
    if (best === null || slips < best.slips) best = { name, slips };
  }
  return best?.name ?? null;
}

/** Letters that were left out, put in, changed, or swapped with their neighbour; more than a slip where lengths differ by that. */
function slipsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > SLIPS_MAX) return SLIPS_MAX + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = one[i - 1] === other[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + changed);
      row.push(swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least);
    }
    [before, last] = [last, row];
  }
  return last[other.length] ?? 0;
}

/** The hint behind a message, with its blank; empty where no name is near. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const near = nearName(word, names);
  return near === null ? "" : ` Did you mean ${near}?`;
}
