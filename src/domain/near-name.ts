// Suggests a known name for an unknown one.

/** The most edits that count as a slip; they must also be fewer than half the name's letters. */
const SLIPS_MAX = 3;
/** Longer words are not compared: the time would grow with the square of the length. */
const LENGTH_MAX = 100;

/** Returns the name with the fewest edits from `word`, ignoring case; the first of several, or null if none is near. */
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

/** Letters left out, inserted, changed, or swapped with their neighbour; more than a slip if the lengths differ by that much. */
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

/** The hint to append to a message, with its leading space; empty if no name is near. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const near = nearName(word, names);
  return near === null ? "" : ` Did you mean ${near}?`;
}
