// A queue for the next batch, with one line per rank, lower ranks first; order of arrival holds within a rank.

/** Ranks start at 0; an item's rank never changes. */
export class RankedQueue<T> {
  private readonly lines: T[][] = [[], [], []];

  constructor(private readonly rank: (one: T) => 0 | 1 | 2) {}

  /** The number of waiting items. */
  get length(): number {
    let sum = 0;
    for (const line of this.lines) sum += line.length;
    return sum;
  }

  /** Appends to the end of the item's line. */
  push(one: T): void {
    this.lines[this.rank(one)]?.push(one);
  }

  /** Removes and returns the first items, rank by rank. */
  take(atMost: number): T[] {
    const taken: T[] = [];
    for (const line of this.lines) taken.push(...line.splice(0, atMost - taken.length));
    return taken;
  }

  /** Returns items to the front of their lines, in the order in which they were taken. */
  putBack(taken: readonly T[]): void {
    for (const one of taken.toReversed()) this.lines[this.rank(one)]?.unshift(one);
  }
}
